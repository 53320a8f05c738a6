"""Old habits of going round in circles: the same call, the same few calls, or the same errors.

Each agent gets out of its circle by itself after a while (`Mind.amount`) and then does what its answer needs, so that
a control which ends it earlier without an answer has lost one.
"""

from collections.abc import Sequence

from benchmarks.habits.bad_habits import Agent
from benchmarks.habits.mind import SEARCH, Mind, says
from oracle.testing import ScriptedCall, ScriptedTurn

_WRONG = ("src/main.py", "lib/ferry.py", "app/core.py", "ferry/index.py", "src/server.py", "src/app/main.py")


def repeats_itself(mind: Mind) -> ScriptedTurn:
    """Makes its first call again and again."""
    made = mind.view.made
    if not made or len(made) > mind.amount(2, 20):
        return mind.sensible()
    return says("", ScriptedCall(made[0].tool, dict(made[0].arguments)))


def repeats_slightly(mind: Mind) -> ScriptedTurn:
    """Makes its first search again and again, with another mark or another limit, which changes nothing."""
    made = mind.view.made
    if not made or "query" not in made[0].arguments or len(made) > mind.amount(3, 18):
        return mind.sensible()
    marks = ("?", "!", ".", " ?", "??", "...", " .")
    query = f"{made[0].arguments['query']}{marks[len(made) % len(marks)]}"
    return says("", ScriptedCall(made[0].tool, {"query": query, "limit": 5 + len(made) // len(marks)}))


def alternates(mind: Mind) -> ScriptedTurn:
    """Makes two calls in turn: A, B, A, B."""
    return _circles(mind, period=2, most=mind.amount(4, 24))


def goes_round(mind: Mind) -> ScriptedTurn:
    """Makes three calls in turn: A, B, C, A, B, C."""
    return _circles(mind, period=3, most=mind.amount(6, 27))


def circles_and_strays(mind: Mind) -> ScriptedTurn:
    """Makes two calls in turn, with a new one after every fourth, so that no circle is clean."""
    made = mind.view.made
    if len(made) % 5 == 4 and len(made) <= mind.amount(5, 22):
        return says("", *mind.elsewhere())
    return _circles(mind, period=2, most=mind.amount(5, 22))


def repeats_an_error(mind: Mind) -> ScriptedTurn:
    """Reads a file that is not there, again and again."""
    return _errs(mind, _WRONG[:1], most=mind.amount(2, 12))


def plays_ping_pong(mind: Mind) -> ScriptedTurn:
    """Goes from one error to another and back."""
    return _errs(mind, _WRONG[:2], most=mind.amount(3, 16))


def guesses_paths(mind: Mind) -> ScriptedTurn:
    """Guesses one path after the other, and lists a folder in between, so that no errors follow each other."""
    made = mind.view.made
    if len(made) % 2 == 1 and len(made) <= mind.amount(3, 16):
        tool = "list_files" if "list_files" in mind.view.offered else "vault_list"
        arguments = {"path": "."} if tool == "list_files" else {}
        return says("", ScriptedCall(tool, arguments))
    return _errs(mind, _WRONG, most=mind.amount(3, 16))


def _circles(mind: Mind, *, period: int, most: int) -> ScriptedTurn:
    made = mind.view.made
    if len(made) > most:
        return mind.sensible()
    words = mind.view.question.text.split()
    tools = [tool for tool in SEARCH.values() if tool in mind.view.offered]
    if not tools:
        return mind.sensible()
    number = len(made) % period
    return says("", ScriptedCall(tools[number % len(tools)], {"query": words[number % len(words)]}))


def _errs(mind: Mind, paths: Sequence[str], *, most: int) -> ScriptedTurn:
    tool = next((tool for tool in ("read_file", "vault_read") if tool in mind.view.offered), None)
    if tool is None or len(mind.view.made) >= most:
        return mind.sensible()
    path = paths[len(mind.view.made) % len(paths)]
    return says("", ScriptedCall(tool, {"path": path}))


CIRCLING: dict[str, Agent] = {
    agent.__name__: agent
    for agent in (
        repeats_itself,
        repeats_slightly,
        alternates,
        goes_round,
        circles_and_strays,
        repeats_an_error,
        plays_ping_pong,
        guesses_paths,
    )
}
