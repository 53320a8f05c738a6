import re
from typing import Final

import pytest

from tests.acceptance import harness
from tests.acceptance.harness import ControlName

_SCENARIO: Final = re.compile(r"test_0(12|20)_(us\d_\d|fr_007_and_us3_2)|test_012_fr_(011|004_each_end)_")
"""The acceptance scenarios of both specifications of docs/internals/requirements.md: they hold in both formats."""
_BRIEF: Final = re.compile(r"test_0(12|20)_us\d_1_")
"""Those that `make test` runs in the other format too; `make check` runs all."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have each acceptance scenario run over the wire of both formats."""
    name = metafunc.function.__name__
    if _SCENARIO.match(name):
        marks = () if _BRIEF.match(name) else (pytest.mark.long("the same over the wire of the other format"),)
        formats = ["claude", pytest.param("openai_compatible", marks=marks)]
        metafunc.parametrize("wire_format", formats, indirect=True)


@pytest.fixture(autouse=True)
def wire_format(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The format that the model of a harness speaks on the wire; Claude's where nothing else is asked for."""
    name: str = getattr(request, "param", "claude")
    monkeypatch.setattr(harness, "wire_format", name)
    return name


@pytest.fixture(params=["tree", "loop"])
def control(request: pytest.FixtureRequest) -> ControlName:
    """Both controls: what 012 asks for holds under the shipped tree and under the plain loop (decision 21)."""
    name: ControlName = request.param
    return name
