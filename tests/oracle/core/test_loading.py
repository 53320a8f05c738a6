import gc
import subprocess
import sys
import weakref
from types import ModuleType

import pytest

import oracle
from oracle.core.loading import collector_paused, imported

_WATCHED = """
import gc
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
from oracle.cli.entry import cli
before = len(looks)
cli.get_command(None, "ask")
from oracle.core.loading import imported
imported("oracle.cli.asking:ask")
from oracle.server.wiring.agent import build_model
from oracle.server.settings.fields import Settings
build_model(Settings(llm="anthropic")).first.load()
print(len(looks) - before)
"""


def test_the_collector_is_off_within_and_on_after():
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.long("starts an interpreter that loads everything")
def test_loading_a_command_and_the_sdk_is_not_slowed_by_the_collector(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", _WATCHED],
        cwd=tmp_path,
        env={"ANTHROPIC_API_KEY": "test-key"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ran.stdout) < 20  # or there are hundreds


def test_what_has_become_garbage_is_collected_although_a_loaded_module_was_asked_for_between():
    class Knot:
        def __init__(self) -> None:
            self.itself = self

    knot = weakref.ref(Knot())
    assert imported("oracle.core.loading:imported") is imported
    gc.collect()
    assert knot() is None


def test_every_name_of_the_lazy_door_is_there_and_no_other():
    assert all(getattr(oracle, name) is not None for name in oracle.__all__)
    assert not any(isinstance(getattr(oracle, name), ModuleType) for name in oracle.__all__)
    with pytest.raises(AttributeError, match="module 'oracle' has no attribute 'nothing'"):
        _ = oracle.nothing
