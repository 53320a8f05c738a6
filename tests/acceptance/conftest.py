import pytest

from tests.acceptance.harness import ControlName


@pytest.fixture(params=["tree", "loop"])
def control(request: pytest.FixtureRequest) -> ControlName:
    """Both controls: what 012 asks for holds under the shipped tree and under the plain loop (decision 21)."""
    name: ControlName = request.param
    return name
