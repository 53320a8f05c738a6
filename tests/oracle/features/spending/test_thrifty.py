"""The example tree, and the guard that it has."""

from pathlib import Path

import pytest

from bt_runtime import TreeFileError, TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.playing import Player
from oracle.features.spending.guard import SpendBudget
from tests.oracle.features.spending.conftest import KNOWN
from trees import FOLDER

EXAMPLES = Path(__file__).parents[4] / "examples" / "spending"
LIBRARY = TreeLibrary([EXAMPLES, FOLDER], registry=KNOWN)
SCENARIOS = read_scenario_file(EXAMPLES / "scenarios" / "thrifty.yaml")


def test_it_has_neither_mistakes_nor_warnings() -> None:
    report = check_files(LIBRARY, [EXAMPLES])
    assert (report.ok, report.warnings) == (True, ()), str(report)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_its_scenarios_pass(scenario: Scenario) -> None:
    verdict = judge(scenario, Player(LIBRARY).play(scenario))
    assert verdict.passed, verdict.report("")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("", "'spend_budget' needs 'tokens' or 'money'"),
        (": {tokens: 0}", "at least 1"),
        (": {money: 0}", "greater than 0"),
        (": {money: .nan}", "finite"),
        (": {cents: 3}", "has no setting 'cents'"),
    ],
)
def test_a_guard_that_limits_nothing_is_a_mistake(tmp_path: Path, setting: str, told: str) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        f"tree: wrong\nroot: {{guarded: {{guards: [{{spend_budget{setting or ': {}'}}}], child: llm_turn}}}}"
    )
    with pytest.raises(TreeFileError) as raised:
        TreeLibrary([tmp_path, FOLDER], registry=KNOWN).load("wrong")
    assert told in str(raised.value)


def test_the_snippet_of_the_guard_is_right(tmp_path: Path) -> None:
    _, _, after = (SpendBudget.__doc__ or "").partition("```yaml\n")
    snippet = after.partition("```")[0].strip()
    (tmp_path / "it.yaml").write_text(f"tree: it\nroot: {{guarded: {{guards: [{{{snippet}}}], child: llm_turn}}}}")
    assert TreeLibrary([tmp_path, FOLDER], registry=KNOWN).load("it")
