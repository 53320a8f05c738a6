"""`check_evidence`: another turn, then a mark or an end; the same in a replay, known to checker and verifier."""

import json
import re
from pathlib import Path

import pytest
import yaml

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.playing import Player
from oracle.features.verifier.verify import Scope, verify
from oracle.llm.protocol import ToolUse
from oracle.testing import ScriptedTurn
from tests.oracle.features.evidence.conftest import KNOWN
from tests.oracle.server.api.conftest import OLGA, OPERATOR, TOKENS
from trees import FOLDER

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples" / "evidence"
PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8").partition("## Nothing is claimed")[2]
LIBRARY = TreeLibrary([EXAMPLES, FOLDER], registry=KNOWN)
TREE = """\
tree: sample
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn:
                - force_success: {{ subtree: use_tools }}
                - selector:
                    - condition: tool_calls > 0
                    - inverter: {{ child: {{ check_evidence: {{ {settings} }} }} }}
                    - stop: completed
    then: {{ sequence: [explain_stop, finish] }}
"""
USES_TOOLS = """\
                - force_success: {{ subtree: use_tools }}
                - selector:
                    - condition: tool_calls > 0
"""


def library(tmp_path: Path, settings: str, rules: str = "") -> TreeLibrary:
    (tmp_path / "sample.yaml").write_text(TREE.format(settings=settings) + rules, encoding="utf-8")
    return TreeLibrary([tmp_path, FOLDER], registry=KNOWN)


def played(trees: TreeLibrary, tmp_path: Path, scenario: str) -> None:
    (tmp_path / "scenarios.yaml").write_text(f"tree: sample\nscenarios:\n{scenario}", encoding="utf-8")
    for each in read_scenario_file(tmp_path / "scenarios.yaml"):
        verdict = judge(each, Player(trees).play(each))
        assert verdict.passed, verdict.report("")


@pytest.mark.long("checks a whole tree")
def test_the_example_has_neither_mistakes_nor_warnings() -> None:
    report = check_files(LIBRARY, [EXAMPLES])
    assert (report.ok, report.warnings) == (True, ()), str(report)


@pytest.mark.parametrize(
    "scenario", read_scenario_file(EXAMPLES / "scenarios" / "oracle.yaml"), ids=lambda each: each.name
)
def test_the_scenarios_of_the_example_pass(scenario: Scenario) -> None:
    verdict = judge(scenario, Player(LIBRARY).play(scenario))
    assert verdict.passed, verdict.report("")


def test_the_example_is_the_shipped_tree_with_the_lines_of_the_page() -> None:
    own, shipped = ((folder / "oracle.yaml").read_text(encoding="utf-8") for folder in (EXAMPLES, FOLDER))
    added = [line for line in own.splitlines() if line not in shipped.splitlines()]
    assert own.replace("".join(f"{line}\n" for line in added), "") == shipped
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    lines = "\n".join(line[22:] for line in added if "#" not in line)
    assert yaml.safe_load(blocks[0]) == yaml.safe_load(lines)


def test_the_scenario_and_the_rule_of_the_page_are_right(tmp_path: Path) -> None:
    _, scenario, rule = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    trees = library(tmp_path, "repair: 1", rule)
    played(trees, tmp_path, "".join(f"  {line}\n" for line in scenario.splitlines()))


@pytest.mark.parametrize(
    ("settings", "expect"),
    [
        ("repair: 0", "reason: completed, asked: 1, answer: {contains: 'Not found in what was read or done'}"),
        ("then: end", "reason: error, asked: 2, answer: {ends: 'done: \"All tests pass.\".'}"),
        ("repair: 2", "reason: completed, asked: 3, blackboard: {unmatched_claims: [All tests pass.]}"),
    ],
    ids=["no-repair", "end", "two-repairs"],
)
def test_the_policy_is_in_the_tree(tmp_path: Path, settings: str, expect: str) -> None:
    turns = 1 + int(re.sub(r"\D", "", settings) or 1)
    model = ", ".join(["All tests pass.", "They do.", "They really do."][:turns])
    scenario = f"  - {{name: a, question: Do they?, model: [{model}], expect: {{{expect}}}}}\n"
    played(library(tmp_path, settings), tmp_path, scenario)


def test_no_turn_is_granted_where_the_limits_leave_none(tmp_path: Path) -> None:
    scenario = (
        "  - {name: a, question: Do they?, limits: {max_iterations: 1}, model: [All tests pass.], "
        "expect: {turns: 1, reason: completed, blackboard: {unmatched_claims: [All tests pass.]}}}\n"
    )
    played(library(tmp_path, "repair: 1"), tmp_path, scenario)


def test_a_call_of_the_tree_itself_is_a_deed(tmp_path: Path) -> None:
    text = TREE.format(settings="repair: 0").replace(
        "        - loop:",
        "        - action: {call: vault_write, with: {path: \"'notes/a.md'\", body: question}}\n        - loop:",
    )
    (tmp_path / "sample.yaml").write_text(text, encoding="utf-8")
    scenario = (
        "  - {name: a, question: Write it., tools: {vault_write: Wrote notes/a.md (1 line).}, "
        "model: [I saved it to notes/a.md.], expect: {answer: I saved it to notes/a.md.}}\n"
    )
    played(TreeLibrary([tmp_path, FOLDER], registry=KNOWN), tmp_path, scenario)


@pytest.mark.long("explores a tree")
@pytest.mark.parametrize("settings", ["repair: 1", "then: end"])
def test_the_checker_finds_nothing_and_the_verifier_finds_the_claim(tmp_path: Path, settings: str) -> None:
    rules = "rules:\n  - {name: r, text: None., absence: {key: unmatched_claims, where: len(value) > 0}}\n"
    text = TREE.replace("- llm_turn:", "- llm_turn: {{ tools: false }}").replace(
        USES_TOOLS, "                - selector:\n"
    )
    (tmp_path / "sample.yaml").write_text(text.format(settings=settings) + rules, encoding="utf-8")
    trees = TreeLibrary([tmp_path, FOLDER], registry=KNOWN)
    report = check_files(trees, [tmp_path / "sample.yaml"])
    assert (report.ok, report.warnings) == (True, ()), str(report)
    found = verify(trees.load("sample"), Scope(turns=2, registry=KNOWN))
    verdicts = {each.name: each.verdict for each in found.results}
    assert verdicts.pop("rule r") == "refuted"
    assert set(verdicts.values()) == {"proven"}


@pytest.mark.long("starts a service")
async def test_the_record_of_a_run_tells_the_same_story_again(start, tmp_path: Path) -> None:
    (tmp_path / "sample.yaml").write_text(TREE.format(settings="repair: 1"), encoding="utf-8")
    reads = ScriptedTurn(text="I look.", tool_calls=(ToolUse("c", "list_files", {}),))
    says = ScriptedTurn(text="I saved it to notes/a.md.")
    options = {"tokens": TOKENS | OPERATOR, "operators": ("olga",), "registry": KNOWN}
    service = await start((reads, says, says), **options)
    asked = await service.ask(tree="sample", headers=OLGA)
    said = asked.text
    assert "Not found in what was read or done" in said
    told = (await service.client.get(f"/api/runs/{asked.run_id}/history", headers=OLGA)).json()
    assert told["ticks"]
    assert not told["problem"]
    assert not told["unexplained_from"]
    assert "unmatched_claims" in json.dumps(told)
