"""Checks answers against the schema of their question, after a turn has ended and before the user gets its text.

Rules:

- A response that calls tools, was cut off or asks for another turn is no answer; its text is not shown.
- A text that fits the schema is the answer, whatever the model signals with it: only the JSON is shown, without a fence
  around it.
- The first that does not fit asks for another turn, without tools, and the model reads why. The second ends the query
  as an error, and is shown as it is; so does the first one where the limits leave no other turn.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.core.encoding import from_json
from oracle.core.json_schemas import misfits
from oracle.llm.protocol import ModelFault
from signals import ContextSufficient, NeedTurn

_FENCED: Final = re.compile(r"```(?:json)?\n(.*)\n```", re.DOTALL | re.IGNORECASE)
_MOST_NAMED: Final = 5


def checked(run: AgentRun, outcome: TurnOutcome) -> TurnOutcome:
    """The outcome with what the user is shown of it, and what it means for the control.

    Args:
        run: a query with a schema.
        outcome: of a turn of its answer.
    """
    if (parsed := outcome.parsed) is None:
        return outcome
    text = (run.unfinished + parsed.text).strip()
    if not text or outcome.calls or not outcome.is_whole or isinstance(outcome.signal, NeedTurn):
        return replace(outcome, parsed=replace(parsed, text=""))
    fenced = _FENCED.fullmatch(text)
    text = fenced[1] if fenced else text
    own: dict[str, Any] = {
        "confidence": 1.0,
        "raw_xml": "",
        "timestamp": datetime.fromisoformat(run.equipment.timestamp()),
    }
    if not (problem := problem_of(run.query.output_schema or {}, text)):
        parsed = replace(parsed, text=text, signal=ContextSufficient(sources_found=0, **own))
        return replace(outcome, parsed=parsed)
    is_last = outcome.is_last_paid or run.state.turn + 1 >= run.state.turn_limit
    if run.repairs or is_last:
        words = f"The answer is not what the schema asks for: {problem}."
        parsed = replace(parsed, text=text)
        return replace(outcome, parsed=parsed, fault=ModelFault("answer_invalid", words))
    note = (
        f"Your last response is not what the schema asks for: {problem}. Write the whole answer again: JSON alone, "
        "without any text around it."
    )
    return replace(outcome, parsed=replace(parsed, text="", signal=NeedTurn(reason=note, **own)))


def problem_of(schema: Any, text: str) -> str:  # noqa: ANN401  JSON data
    """The parts of a text that do not fit the schema, each with its place; empty if it fits."""
    try:
        found = sorted(misfits(schema, from_json(text)), key=lambda each: _place(each.place))
    except ValueError as error:
        return f"it is not JSON ({error})" if "JSON" in type(error).__name__ else str(error)
    named = [f"{_place(each.place)}: {each.problem}" for each in found[:_MOST_NAMED]]
    return "; ".join([*named, *([f"and {len(found) - _MOST_NAMED} more"] if len(found) > _MOST_NAMED else [])])


def _place(keys: Any) -> str:  # noqa: ANN401  keys and indexes
    return "$" + "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in keys)
