"""What an export without texts still has."""

import json
from dataclasses import fields, replace

from oracle.core.chunks import Interrupt
from oracle.replay.exports.redaction import _KEPT, without_texts
from oracle.replay.histories import model
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.naming import OMITTED

MARK = "SECRET-4711"


def test_no_question_answer_argument_result_or_value_is_left(tools):
    """A text of each field that is not listed as kept is gone, wherever it stands."""
    run = replace(tools.run, question=MARK, user_id=MARK, context_id=MARK, error=MARK)
    plain = json.loads(history_to_json(replace(tools, run=run, problem=MARK)))
    for part in ("texts", "calls", "notices", "turns", "ticks", "keys"):
        for each in plain[part]:
            for field, value in each.items():
                if field in ("text", "answer", "arguments", "result", "headline", "value", "error"):
                    each[field] = MARK if not isinstance(value, int | float) else value
    for tick in plain["ticks"]:
        tick["writes"] = [[key, [MARK, {MARK: MARK}]] for key, _ in tick["writes"]]
        tick["errors"] = [["finally", MARK]]
        for visit in tick["visits"]:
            visit |= {"text": MARK, "sentence": MARK, "errors": [MARK]}
            for evaluation in visit["evaluations"]:
                evaluation["error"] = MARK
                evaluation["value"] = {MARK: [MARK]}
                for operand in evaluation["operands"] + evaluation["clauses"]:
                    operand["value"] = MARK
    left = history_to_json(without_texts(history_from_json(json.dumps(plain)))).decode()
    assert MARK not in left
    assert "log_in" not in left  # the argument of the search


def test_of_what_people_were_asked_the_kind_and_the_outcome_remain(tools):
    asked = Interrupt(
        "run.1",
        "tool_call",
        MARK,
        may=("approve",),
        response_schema={MARK: MARK},
        on_expiry="refuse",
        status="approved",
        tool_name="vault_write",
        arguments={MARK: MARK},
        arguments_digest=MARK,
        answered_by=MARK,
    )
    made = model.DecisionFacts(3, 1.0, asked, answer=MARK, arguments={MARK: MARK}, comment=MARK)
    history = replace(tools, interrupts=[model.InterruptFacts(3, 1, 1.0, asked)], decisions=[made])
    left = without_texts(history)
    data = history_to_json(left)
    assert MARK not in data.decode()
    assert (left.decisions[0].interrupt.status, left.interrupts[0].interrupt.tool_name) == ("approved", "vault_write")
    assert history_to_json(history_from_json(data)) == data


def test_figures_names_and_the_tree_remain(tools):
    left = without_texts(tools)
    assert left.run.kept == "figures"
    assert left.run.question == OMITTED
    assert left.tree == tools.tree
    assert [tick.changes for tick in left.ticks] == [tick.changes for tick in tools.ticks]
    assert [tick.decision for tick in left.ticks] == [tick.decision for tick in tools.ticks]
    assert [call.name for call in left.calls] == ["search_code"]
    assert left.calls[0].result == OMITTED
    assert left.turns[0].tokens == tools.turns[0].tokens
    written = {key: value for tick in left.ticks for key, value in tick.writes}
    assert written["turn"] == 2
    assert written["signal"] == OMITTED


def test_an_empty_text_stays_empty_for_conditions_ask_for_that(tools):
    left = without_texts(tools)
    assert {key.name: key.value for key in left.keys}["termination_reason"] == ""


def test_what_is_left_out_can_be_exported_and_read_again(tools):
    data = history_to_json(without_texts(tools))
    assert history_to_json(history_from_json(data)) == data
    assert history_to_json(without_texts(history_from_json(data))) == data


def test_each_part_of_a_history_says_what_remains():
    parts = {part for part in vars(model).values() if isinstance(part, type) and hasattr(part, "__dataclass_fields__")}
    assert set(_KEPT) == parts - {model.RunRecord}  # of the row, `RunFacts` has what a history says
    for part, kept in _KEPT.items():
        assert kept <= {field.name for field in fields(part)}
