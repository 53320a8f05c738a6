"""Agents that do what their answer needs, and no more: none of their calls may be lost."""

from benchmarks.habits.mind import Mind, needs_turn, says
from oracle.testing import ScriptedCall, ScriptedTurn


def thorough(mind: Mind) -> ScriptedTurn:
    """One look at a time."""
    return mind.sensible()


def thorough_in_parallel(mind: Mind) -> ScriptedTurn:
    """Several looks in one turn."""
    return mind.sensible(width=4)


def talks_beside_calls(mind: Mind) -> ScriptedTurn:
    """Says a sentence with each call."""
    calls = mind.looks()
    return says("I look at this next.", *calls) if calls else mind.answer()


def asks_for_a_turn_once(mind: Mind) -> ScriptedTurn:
    """Plans first, in a reply of its own that asks for another turn."""
    if not mind.view.replies and not mind.view.made and mind.looks():
        return needs_turn("I will look at the sources one after the other.", "to look at the sources")
    return mind.sensible()


def errs_once(mind: Mind) -> ScriptedTurn:
    """Guesses a path before it searches, and learns from the error."""
    guess = ScriptedCall("read_file", {"path": "src/ferry/main.py"})
    if "read_file" in mind.view.offered and not mind.view.made and mind.looks():
        return says("", guess)
    return mind.sensible()


def answers_in_parts(mind: Mind) -> ScriptedTurn:
    """Says a long answer in several replies, each of which but the last asks for another turn."""
    if mind.looks():
        return mind.sensible()
    said = len(mind.view.replies)
    if said >= mind.task.parts - 1:
        return mind.answer()
    facts = mind.known[said :: mind.task.parts]
    text = "\n".join(f"Part {said + 1}. {fact.key}: {fact.token}" for fact in facts)
    return needs_turn(text, f"part {said + 2} of {mind.task.parts} is still to be written")


GOOD = {
    agent.__name__: agent
    for agent in (
        thorough,
        thorough_in_parallel,
        talks_beside_calls,
        asks_for_a_turn_once,
        errs_once,
        answers_in_parts,
    )
}
