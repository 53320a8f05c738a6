"""What a test costs, and which failed: a plugin of pytest, loaded by `tests/conftest.py`.

A test that takes more than `QUICK_S` of CPU (its own and that of processes it has waited for; not its fixtures') bears
the mark `long` with a reason, `@pytest.mark.long("starts a service of its own")`. One without it is named at the end of
the run. With `--cpu-limit SECONDS` one that takes more than that fails: the same work costs more on a busy machine, and
the first test of a process loads what the others find loaded, so a limit leaves room. Except with the profile `brief`
those that try more without it, properties and what asks for `some` of its cases, are not measured.
"""

import resource
import time
from collections.abc import Generator

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.support import shares

QUICK_S = 0.5


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-limit", type=float, metavar="SECONDS", help="fail tests without `long` that take more")


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """A mark without a reason is an error of its module, also in a worker of xdist."""
    made = yield
    for item in made if isinstance(made, list) else []:
        for mark in item.iter_markers("long"):
            if len(mark.args) != 1 or not isinstance(mark.args[0], str) or not mark.args[0] or mark.kwargs:
                message = f'{item.name}: the mark `long` has a reason: pytest.mark.long("waits for a deadline")'
                raise collector.CollectError(message)
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    before, asked = _cpu_s(), shares.asked
    yield
    taken = _cpu_s() - before
    if taken <= QUICK_S or item.get_closest_marker("long") or item.get_closest_marker("soak"):
        return
    grows = shares.asked > asked or is_hypothesis_test(getattr(item, "obj", None))
    if grows and settings.get_current_profile_name() != "brief":
        return
    item.user_properties.append(("unmarked_cpu_s", taken))
    limit = item.config.getoption("--cpu-limit")
    if limit is not None and taken > limit:
        pytest.fail(f"took {taken:.1f} s of CPU, more than {limit}, and has no mark `long`", pytrace=False)


class Reporting:
    """Names a failure at once, in the words of the summary, and unmarked long tests at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._unmarked: list[tuple[float, str]] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self._unmarked += [
                (taken, report.nodeid) for name, taken in report.user_properties if name == "unmarked_cpu_s"
            ]
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = str(report.longrepr) if crash is None else crash.message
            terminal.line("")
            terminal.write_line(f"FAILED {report.nodeid} ({report.when}): {message.partition(chr(10))[0]}", red=True)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._unmarked:
            terminalreporter.section(f"more than {QUICK_S} s of CPU without a mark `long`")
            for taken, name in sorted(self._unmarked, reverse=True):
                terminalreporter.write_line(f"{taken:5.1f} s  {name}")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # workers of xdist report to the process that started them
        config.pluginmanager.register(Reporting(config))
