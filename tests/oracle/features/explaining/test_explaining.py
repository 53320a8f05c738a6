"""What `oracle trees explain` says of trees, situation by situation."""

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.core.errors import UserError
from oracle.core.logs import quiet
from oracle.features.explaining.situations import Situation, answers_to, situations
from oracle.features.explaining.staging import Stage
from oracle.features.explaining.steps import compressed
from oracle.features.explaining.table import MOST_ROWS, Case, Table, table_of
from oracle.features.explaining.telling import Told, own_words_of, told_of
from oracle.features.explaining.writing import as_markdown, as_text
from oracle.features.verifier.reads import reads_of
from trees import FOLDER

LOOP = """tree: noted
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [{guards}]
        child:
          sequence:
            - llm_turn
            - selector:
                - sequence: [condition: tool_calls > 0, {tools}]
                - sequence: [condition: signal == "need_turn", grant_turn]
                - stop: completed
"""
GUARDS = "cancelled, turn_budget: 5, token_budget, deadline, no_progress, error_limit"
ASKING = LOOP.format(guards=GUARDS, tools="run_tools: { approve: [vault_write] }")
FLOW = """rules:
  - name: nothing_leaks
    text: After untrusted text was read, nothing is sent without an approval.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
"""
STEP = """tree: kept_note
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { tools: false }
    - selector:
        - approve:
            message: "May the question be kept?"
            child: { action: { call: vault_write, with: { path: "'log.md'", body: question } } }
        - say: The question is not in the log.
    - stop: completed
"""


def read(tmp_path, text):
    return TreeLibrary([tmp_path, FOLDER], registry=REGISTRY).read_text(text, file="my.yaml")


def told(tmp_path, text, *ids):
    """What came of these situations, by id; those that did not come about are left out."""
    tree = read(tmp_path, text)
    stage, found = Stage(tree, REGISTRY), {}
    with quiet():
        for situation in situations(tree, reads_of(tree), stage.domain):
            if situation.id in ids and (performance := stage.play(situation)):
                found[situation.id] = told_of(performance, tree, own_words_of(tree))
    return found


def test_it_says_whether_what_a_person_decides_is_done(tmp_path):
    found = told(tmp_path, ASKING, "approved", "refused", "edited", "expired", "cancel-while-asked")
    asks = "turn → asks the user, for 7 days, to approve vault_write: "
    assert {name: each.does for name, each in found.items()} == {
        "approved": f"{asks}approved → writes with vault_write → turn",
        "refused": f"{asks}refused → does not run vault_write → turn → nothing is written",
        "edited": f"{asks}edited → writes with vault_write as edited → turn",
        "expired": f"{asks}expired → does not run vault_write → turn → nothing is written",
        "cancel-while-asked": f"{asks}withdrawn → CANCEL → nothing is written",
    }
    assert [each.facts["written"] for each in found.values()] == ["written", "not written", "written"] + [
        "not written"
    ] * 2


def test_a_refusal_that_is_hidden_shows_that_it_is_written_all_the_same(tmp_path):
    text = STEP.replace(
        "        - say:",
        "        - action: { call: vault_write, with: { path: \"'log.md'\", body: question } }\n        - say:",
    )
    found = told(tmp_path, text, "refused", "expired")
    asks = "turn without tools → asks the user, for 7 days, to approve “May the question be kept?”: "
    assert found["refused"].does.startswith(
        f"{asks}refused → writes with vault_write (path: log.md, body: Write a note"
    )
    sound = told(tmp_path, STEP, "refused")["refused"]
    assert sound.does == f"{asks}refused → nothing is written"
    assert sound.sees == "the answer, “The question is not in the log.”"


def test_situations_that_cannot_come_about_have_no_row(tmp_path):
    plain = (
        "tree: plain\nroot: { sequence: [classify_query, compose_prompt, llm_turn: { tools: false }, stop: completed] }"
    )
    assert told(tmp_path, plain, "refused", "expired", "tool", "writes", "cancel-in-wait", "own-call-fails") == {}


def test_it_says_how_many_turns_there_were_and_what_stopped_them(tmp_path):
    bounded = told(tmp_path, ASKING, "need-turn-always", "cancel", "hangs", "tokens-used")
    free = told(tmp_path, ASKING.replace(GUARDS, "no_progress"), "need-turn-always", "cancel", "hangs", "tokens-used")
    assert [each.facts["turns"] for each in bounded.values()] == ["5 turns", "1 turn", "1 turn", "1 turn"]
    assert [each.facts["turns"] for each in free.values()] == ["50 turns", "1 turn", "1 turn", "1 turn"]
    reasons = ["max_iterations", "timeout", "token_budget", "user_cancelled"]
    assert sorted(each.ends for each in bounded.values()) == reasons
    assert sorted(each.ends for each in free.values()) == [
        f"{each}, by the floor and not by the tree" for each in reasons
    ]


def test_the_node_that_gave_the_reason_is_known(tmp_path):
    found = told(tmp_path, ASKING, "answers", "cancel")
    kinds = {
        name: each.decided_by and (each.decided_by.kind, each.decided_by.place.line) for name, each in found.items()
    }
    assert kinds == {"answers": ("stop", 15), "cancel": ("cancelled", 8)}


def test_what_the_tree_says_to_model_and_user_is_quoted_and_what_the_model_says_is_named(tmp_path):
    text = """tree: drafting
blackboard: { draft: str }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { visible: false, into: draft, hint: Write a first draft. }
    - set: { hint: "'Your draft: ' + draft" }
    - llm_turn: { tools: false, model: strong }
    - notify: Nearly done.
    - say: That was all.
    - stop: completed
"""
    found = told(tmp_path, text, "answers")["answers"]
    assert found.does == (
        "turn told “Write a first draft.” unseen by the user → "
        "turn (strong) without tools told “Your draft: The answer 1.”"
    )
    assert found.sees == "the answer, the notice “Nearly done.”, “That was all.”"


def test_errors_of_nodes_and_calls_that_cannot_run_are_said(tmp_path):
    text = """tree: wrong
blackboard: { score: int, found: str }
root:
  sequence:
    - classify_query
    - force_success: { action: { call: search_code, with: { q: question }, into: found } }
    - force_success: { condition: score >= 3 }
    - llm_turn
    - stop: completed
"""
    does = told(tmp_path, text, "answers")["answers"].does
    assert does.startswith("runs search_code (q: Where is the class RetryPolicy")
    assert " WRONGLY (without its argument 'query', with an unknown 'q') → ERROR in condition: " in does
    assert does.endswith("turn without a system prompt")


def test_a_turn_that_is_offered_further_tools_says_so(tmp_path):
    text = ASKING.replace("grant_turn]", "offer_all_reading_tools, grant_turn]")
    assert told(tmp_path, text, "need-turn")["need-turn"].does == "turn → turn with web_search too"


def test_failures_of_several_kinds_are_played(tmp_path):
    found = told(
        tmp_path, ASKING, "tools-fail", "tools-fail-otherwise", "tools-dry", "unsure-at-work", "lacks-withheld"
    )
    ends = {name: (each.facts["turns"], each.ends) for name, each in found.items()}
    assert ends == {
        "unsure-at-work": ("1 turn", "completed"),
        "tools-fail": ("3 turns", "no_progress"),
        "tools-fail-otherwise": ("3 turns", "error_limit"),
        "tools-dry": ("5 turns", "max_iterations, by the floor and not by the tree"),
    }


@pytest.mark.parametrize(("tool", "kind"), [("vault_write", "shipped"), ("crm.send", "of a plugin")])
def test_a_rule_about_flows_is_played_with_the_tools_that_the_tree_labels(tmp_path, tool, kind):
    text = ASKING.replace("tree: noted", f"tree: noted\nlabels: {{ {tool}: {{ writes: outward }} }}\n{FLOW}")
    text = text.replace("run_tools: { approve: [vault_write] }", "run_tools")
    assert told(tmp_path, text, "writes", "reads-then-writes")["writes"].does == f"turn → writes with {tool} → turn"
    refused = told(tmp_path, text, "reads-then-writes")["reads-then-writes"]
    assert refused.does.endswith(f"runs search_code → turn → does not run {tool} → turn → nothing is written"), kind


@pytest.mark.long("plays all situations of a tree")
def test_a_broken_rule_about_flows_is_named(tmp_path):
    text = FLOW.replace("    enforce: refuse\n", "")
    text = ASKING.replace("tree: noted", f"tree: noted\nlabels: {{ vault_write: {{ writes: outward }} }}\n{text}")
    with quiet():
        table = table_of(read(tmp_path, text.replace("run_tools: { approve: [vault_write] }", "run_tools")), REGISTRY)
    assert [case.situation.id for case in table.cases if case.broken] == ["reads-then-writes"]


def test_the_budget_of_tokens_is_tried_at_several_levels(tmp_path):
    text = ASKING.replace("- llm_turn", "- warn_near_limits\n            - llm_turn")
    found = told(tmp_path, text, "tokens-half", "tokens-65", "tokens-80", "tokens-95")
    assert {name: "a warning of a limit" in each.shown for name, each in found.items()} == {
        "tokens-half": False,
        "tokens-65": False,
        "tokens-80": True,
        "tokens-95": True,
    }


def test_two_calls_of_a_turn_can_fail(tmp_path):
    assert told(tmp_path, ASKING, "two-fail")["two-fail"].does == "turn → runs search_code twice → turn"


def test_a_page_has_no_room_for_minor_situations_where_there_are_many_rows(tmp_path):
    tree = read(tmp_path, ASKING)
    outcomes = [Told(str(at), ("turn",) * at, "", (), "", {}, None, frozenset()) for at in range(MOST_ROWS + 1)]
    cases = [Case(Situation(str(at), "", is_minor=at == 3), each) for at, each in enumerate(outcomes)]
    table = Table(tree, tuple(cases), ())
    assert [row.ids[0] for row in table.page] == [str(at) for at in range(MOST_ROWS + 1) if at != 3]
    assert len(Table(tree, tuple(cases[:-1]), ()).page) == MOST_ROWS


@pytest.mark.long("plays all situations of a tree")
def test_a_table_joins_what_has_the_same_outcome_and_names_what_was_never_reached(tmp_path):
    text = ASKING.replace(
        "- stop: completed", "- sequence: [condition: turn > 90, say: Never.]\n                - stop: completed"
    )
    with quiet():
        table = table_of(read(tmp_path, text), REGISTRY)
    by_id = {name: row for row in table.rows for name in row.ids}
    assert by_id["answers"] is by_id["no-signal"]
    lengths = [len(row.told.steps) for row in table.rows]
    assert lengths == sorted(lengths)
    assert [node.kind for node in table.unreached] == ["say"]
    assert table.left_out == ()
    assert table.offered.endswith(
        "; conversational: no tool; action: search_code, read_file, list_files, vault_search, "
        "vault_read, vault_list, thread_read, thread_seek, vault_write and thread_push"
    )
    written = as_text(table)
    assert "- When the model answers at once and signals context_sufficient" in written
    assert "No situation reaches: say (my.yaml:15)." in written
    assert "By the floor: limits that hold for every tree ended it" in written
    assert as_markdown(table).count("\n| ") == len(table.rows) + 1
    assert {"ids", "when", "does", "sees", "ends", "decided_by", "broken_rules"} == set(table.to_json()["rows"][0])


def test_a_table_without_time_says_what_it_left_out(tmp_path):
    with quiet():
        table = table_of(read(tmp_path, ASKING), REGISTRY, seconds=0)
    assert (table.cases, "need-turn" in table.left_out) == ((), True)
    assert "Not played for want of time: answers, no-signal" in as_text(table)


def test_a_part_of_other_trees_is_refused(tmp_path):
    part = read(tmp_path, "tree: part\ninternal: true\nroot: llm_turn")
    with pytest.raises(UserError, match="part of other trees"):
        table_of(part, REGISTRY)


def test_repetitions_are_counted():
    assert compressed([*"ab" * 3, "c"]) == ["(a → b) 3 times", "c"]
    assert compressed(list("aab")) == ["a twice", "b"]
    assert compressed([]) == []


def test_an_answer_fits_its_schema():
    schema = {"type": "object", "properties": {"passed": {"type": "boolean"}, "note": {"type": "string"}}}
    assert answers_to(schema) == [{"passed": True, "note": "an answer"}, {"passed": False, "note": "an answer"}]
    assert answers_to({"enum": ["main", "release"]}) == ["main", "release"]
    assert answers_to({}) == ["an answer"]
