"""Old habits of gathering and of talking: what an agent does in place of what its answer needs.

Each agent ends its habit by itself after a while (`Mind.amount`), as models mostly do, but for those that say so.
Whether it stops earlier is up to the control's notes, and to whether it obeys them.
"""

from collections.abc import Callable, Sequence

from benchmarks.habits.mind import READ, SEARCH, Mind, needs_turn, says, signal_xml
from benchmarks.habits.view import paths_in
from oracle.testing import ScriptedCall, ScriptedTurn

Agent = Callable[[Mind], ScriptedTurn]


def searches_everything(mind: Mind) -> ScriptedTurn:
    """Searches wherever it can at once, then opens the best hit of each search, then does what is needed."""
    searches = [call for call in _searches(mind, [mind.view.question.text]) if not _was_made(mind, call)]
    if searches and mind.view.turn == 1:
        return says("", *searches)
    opened = [call for call in mind.view.made if not call.tool.endswith(("search", "seek", "search_code"))]
    hits = _best_hits(mind)
    return says("", hits[0]) if hits and len(opened) < mind.amount(3, 8) else mind.sensible()


def searches_one_by_one(mind: Mind) -> ScriptedTurn:
    """Searches everywhere and in several wordings, one search a turn, before it does what is needed."""
    words = mind.view.question.text.split()
    wordings = [" ".join(words), " ".join(words[-3:]), " ".join(words[:3]), words[-1], words[len(words) // 2]]
    left = [call for call in _searches(mind, wordings) if not _was_made(mind, call)]
    return says("", left[0]) if left and len(mind.view.made) < mind.amount(4, 14) else mind.sensible()


def rephrases(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and goes on searching for it in other words."""
    if mind.looks():
        return mind.sensible()
    endings = ("definition", "example", "history", "overview", "details", "usage", "setting", "test", "change", "owner")
    words = mind.view.question.text.split()[-1].strip("?.!¿")
    left = [call for call in _searches(mind, [f"{words} {ending}" for ending in endings]) if not _was_made(mind, call)]
    needed = sum(len(fact.places) for fact in mind.view.question.facts)
    return says("", left[0]) if left and len(mind.view.made) < needed + mind.amount(4, 14) else mind.answer()


def over_gathers(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and reads on in other files."""
    return _gathers(mind, width=1, most=mind.amount(4, 20))


def over_gathers_in_parallel(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and reads on, four files a turn."""
    return _gathers(mind, width=4, most=mind.amount(8, 32))


def never_stops_gathering(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and reads on for as long as it may; does not end by itself."""
    return _gathers(mind, width=1, most=1_000)


def reads_around_first(mind: Mind) -> ScriptedTurn:
    """Reads whatever there is before it looks for the answer."""
    around = mind.elsewhere()
    return says("", *around) if around and len(mind.view.made) < mind.amount(3, 11) else mind.sensible()


def rereads(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and opens its source again and again at other lines, to be sure."""
    if mind.looks():
        return mind.sensible()
    paths = [place.partition(":") for fact in mind.view.question.facts for place in fact.places]
    files = [(READ[group][0], path) for group, _, path in paths if group in READ and path]
    readable = [(tool, path) for tool, path in files if tool in mind.view.offered and tool != "thread_read"]
    number = sum(call.tool in {"read_file", "vault_read"} for call in mind.view.made)
    if not readable or number >= mind.amount(3, 14):
        return mind.answer()
    tool, path = readable[number % len(readable)]
    return says("", ScriptedCall(tool, {"path": f"{path}:{number // len(readable) + 1}"}))


def pages_on(mind: Mind) -> ScriptedTurn:
    """Knows the answer, and pages through the longest file all the same; where it cannot, it reads other notes."""
    if mind.looks() or "read_file" not in mind.view.offered:
        return _gathers(mind, width=1, most=mind.amount(4, 16))
    pages = sum(call.arguments.get("path") == "src/ferry/zones.py" for call in mind.view.made)
    first = pages * 200 + 1
    page = ScriptedCall("read_file", {"path": "src/ferry/zones.py", "start_line": first, "end_line": first + 199})
    return says("", page) if pages < mind.amount(4, 16) else mind.answer()


def asks_on_alike(mind: Mind) -> ScriptedTurn:
    """Has answered, and asks for another turn, always for the same reason."""
    return _asks_on(mind, lambda _: "to double-check the answer")


def asks_on_anew(mind: Mind) -> ScriptedTurn:
    """Has answered, and asks for another turn, each time for another reason."""
    return _asks_on(mind, lambda number: f"to think about aspect {number} of the answer")


def asks_before_each_call(mind: Mind) -> ScriptedTurn:
    """Asks for another turn before each call instead of making it."""
    calls = mind.looks()
    if calls and len(mind.view.replies) <= len({call.turn for call in mind.view.made}):
        return needs_turn("Next I will look this up.", f"to call {calls[0].name}")
    return mind.sensible()


def gives_up_stuck(mind: Mind) -> ScriptedTurn:
    """Says that it is stuck after its first look, whatever is left to try."""
    if not mind.view.made or not mind.missing:
        return mind.sensible()
    fields = {"attempted": '["one search"]', "blocker": "the search did not show the whole answer"}
    return says("I could not find this." + signal_xml("stuck", **fields))


def gives_up_partly(mind: Mind) -> ScriptedTurn:
    """Takes what its first look shows for the answer."""
    return mind.sensible() if not mind.view.made else mind.answer()


def gives_up_for_want_of_tools(mind: Mind) -> ScriptedTurn:
    """Says that it lacks a tool, without having tried those that it has."""
    if mind.view.made:
        return mind.sensible()
    fields = {"capability": "access to the project's files", "reason": "I cannot see them"}
    return says("I have no access to this." + signal_xml("need_capability", **fields))


def announces(mind: Mind) -> ScriptedTurn:
    """Says that it will look, and does not; without a signal."""
    if mind.looks() and len(mind.view.replies) <= len({call.turn for call in mind.view.made}):
        return says("Let me look into that. I will search the sources and read the relevant parts now.")
    return _without_signal(mind, mind.sensible())


def never_signals(mind: Mind) -> ScriptedTurn:
    """Gathers too much, and ends without a signal."""
    return _without_signal(mind, over_gathers(mind))


def signals_unclearly(mind: Mind) -> ScriptedTurn:
    """Answers with a signal that cannot be read or believed, however often it is asked again."""
    if mind.looks():
        return mind.sensible()
    ends = (
        '\n\n<signal type="context_sufficient"><confidence>0.9</confidence></signal>',
        signal_xml("need_turn", confidence=0.1, reason="not sure"),
        '\n\n<signal type="finished"><confidence>0.9</confidence></signal>',
        '\n\n<signal type="need_turn"><confidence>0.4</confidence></signal>',
    )
    return says(mind.facts_said() + ends[(mind.amount(0, 3) + len(mind.view.replies)) % len(ends)])


def _gathers(mind: Mind, *, width: int, most: int) -> ScriptedTurn:
    """Do what is needed first, then look elsewhere, up to `most` calls in all."""
    if mind.looks():
        return mind.sensible()
    around = mind.elsewhere(width)
    return says("", *around) if around and len(mind.view.made) < most else mind.answer()


def _asks_on(mind: Mind, reason: Callable[[int], str]) -> ScriptedTurn:
    if mind.looks():
        return mind.sensible()
    number = len(mind.view.replies)
    if number >= mind.amount(3, 34):
        return mind.answer()
    return needs_turn("Let me check this again." if number else mind.facts_said(), reason(number + 1))


def _without_signal(mind: Mind, turn: ScriptedTurn) -> ScriptedTurn:
    return turn if turn.tool_calls else mind.answer(with_signal=mind.advice.signal)


def _searches(mind: Mind, wordings: Sequence[str]) -> list[ScriptedCall]:
    tools = [tool for tool in SEARCH.values() if tool in mind.view.offered]
    return [ScriptedCall(tool, {"query": words}) for words in wordings for tool in tools]


def _was_made(mind: Mind, call: ScriptedCall) -> bool:
    return mind.view.has_called(call.name, **dict(call.arguments))


def _best_hits(mind: Mind) -> list[ScriptedCall]:
    """A call that opens the best hits of each search so far that has not been opened."""
    groups = {tool: group for group, tool in SEARCH.items() if group in READ}
    found = []
    for call in mind.view.made:
        for path in list(paths_in(call.text))[:2] if call.tool in groups else ():
            tool, argument = READ[groups[call.tool]]
            if tool in mind.view.offered and not mind.view.has_called(tool, **{argument: path}):
                found.append(ScriptedCall(tool, {argument: path}))
    return found


GATHERING: dict[str, Agent] = {
    agent.__name__: agent
    for agent in (
        searches_everything,
        searches_one_by_one,
        rephrases,
        over_gathers,
        over_gathers_in_parallel,
        never_stops_gathering,
        reads_around_first,
        rereads,
        pages_on,
    )
}
TALKING: dict[str, Agent] = {
    agent.__name__: agent
    for agent in (
        asks_on_alike,
        asks_on_anew,
        asks_before_each_call,
        gives_up_stuck,
        gives_up_partly,
        gives_up_for_want_of_tools,
        announces,
        never_signals,
        signals_unclearly,
    )
}
