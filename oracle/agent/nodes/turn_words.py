"""How a turn of the model ended, in a sentence; for its node, and for the headline of the tick that gets it."""

from collections.abc import Mapping, Sequence

from bt_runtime.text.phrases import clipped, counted, listed

_SAYS: Mapping[str, str] = {
    "need_turn": "asks for another turn",
    "context_sufficient": "says that it has what it needs",
    "stuck": "says it is stuck",
    "need_capability": "says that it lacks a capability",
    "delegation_recommended": "recommends that another agent does this",
    "partial_answer": "gives a part of the answer",
}


def turn_sentence(
    name: str,
    *,
    calls: Sequence[str] = (),
    signal: str = "",
    is_malformed: bool = False,
    is_empty: bool = False,
    is_cut_off: bool = False,
    is_interrupted: bool = False,
    error: str = "",
) -> str:
    """What a turn brought, as in `Turn 5 says it is stuck.`.

    Args:
        is_cut_off: its bound on tokens has ended it early.
        name: what the sentence is about, with a capital: `Turn 5`.
        calls: the names of the tools that it called.
        signal: its type; empty if there is none that counts.
        is_malformed: it had a signal that cannot be read.
        is_empty: it had neither text nor tool calls nor a signal to act on.
        is_interrupted: the control has halted it.
        error: the provider's failure, as users read it; empty if there was none.
    """
    if error:
        return f"{name} did not end: {clipped(error, 160).rstrip('.')}."
    if is_interrupted:
        return f"{name} was interrupted."
    said = [_SAYS.get(signal, f"signals {clipped(signal)}")] if signal else []
    if calls:
        several = (
            f"calls {counted(len(calls), 'tool')}: {listed(calls)}" if len(calls) > 1 else f"calls {listed(calls)}"
        )
        return f"{name} {' and '.join([several, *said])}."
    if is_cut_off:
        return f"{name} was cut off by its bound on tokens."
    if said:
        return f"{name} {said[0]}."
    if is_empty:
        return f"{name} brought nothing: no text, no tool calls, no signal."
    return f"{name} answers{', with a signal that cannot be read' if is_malformed else ' without a signal'}."
