"""020 FR-017, FR-018: an agent that goes on gathering is stopped; one whose calls are all needed loses none of them.

Each agent is a script that ignores whatever the control tells it. Its calls are marked as needed or needless; what
counts is which of them reach a tool.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from oracle.agent.gathering import Gathering, Sufficiency
from oracle.agent.outcomes import CallResult
from oracle.core.chunks import Source
from oracle.decision import AgentConfig, ToolAction
from oracle.gathering.gathered import Gathered
from oracle.gathering.log import GatheringLog
from oracle.llm.protocol import ToolUse
from oracle.testing import ScriptedCall
from oracle.tools import Tool, ToolRegistry, ToolResult
from tests.acceptance.harness import CODE_QUESTION, Answered, answers, calls, harness, made_tool, says
from tests.acceptance.scripts import signal_xml

Step = tuple[bool, ScriptedCall, ToolResult]
"""A call of an agent: whether it is needed, the call, and what the tool returns."""

RETRY = ("src/retry.py", "src/retry.py:1: class RetryPolicy(Backoff):")
TESTS = ("tests/test_retry.py", "tests/test_retry.py:4: def test_waits(): RetryPolicy()")


def hit(*places: tuple[str, str]) -> ToolResult:
    """A result of a search."""
    return ToolResult("\n".join(text for _, text in places), sources=tuple(Source(path, "code") for path, _ in places))


def page(path: str, *lines: str) -> ToolResult:
    """A result of a read."""
    return ToolResult("\n".join(lines), sources=(Source(path, "code"),))


EMPTY = ToolResult("Nothing was found.", is_empty=True)


def look(query: str, result: ToolResult, *, needed: bool = True, tool: str = "find") -> Step:
    return needed, calls(tool, query=query), result


def read(path: str, result: ToolResult, *, needed: bool = True, **arguments: Any) -> Step:
    return needed, calls("open", path=path, **arguments), result


def needless(query: str, result: ToolResult | None = None, *, tool: str = "find") -> Step:
    return look(query, result or hit(RETRY), needed=False, tool=tool)


@dataclass(frozen=True)
class Agent:
    """A scripted agent: its turns, each with calls."""

    turns: tuple[tuple[Step, ...], ...]
    texts: tuple[str, ...] = ()

    @property
    def steps(self) -> list[Step]:
        return [step for turn in self.turns for step in turn]


def agent(*turns: Step | tuple[Step, ...], texts: tuple[str, ...] = ()) -> Agent:
    made = tuple(turn if isinstance(turn[0], tuple) else (turn,) for turn in turns)
    return Agent(made, texts)  # type: ignore[arg-type]  # a step's first item is a bool


FIRST = look("RetryPolicy", hit(RETRY))
SUFFICIENT = (
    '\n\n<signal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></signal>'
)

OVER_GATHERERS: Mapping[str, Agent] = {
    "the same words in another order": agent(
        FIRST,
        needless("class RetryPolicy"),
        needless("RetryPolicy class"),
        needless("the class called RetryPolicy"),
        needless("RetryPolicy, the class"),
    ),
    "one more word each time": agent(
        FIRST, *(needless(f"RetryPolicy {word}") for word in ("where", "defined", "definition", "location", "file"))
    ),
    "synonyms that no result has": agent(
        FIRST, *(needless(word) for word in ("retrying", "attempts again", "repetition", "resubmission", "second try"))
    ),
    "synonyms that find nothing": agent(
        FIRST,
        *(needless(f"{word} handling", EMPTY) for word in ("redo", "repeat", "reissue", "resend", "relaunch", "rerun")),
        *(needless(f"{word} strategy", EMPTY) for word in ("redo", "repeat", "reissue", "resend")),
    ),
    "says that it has enough, and goes on": agent(
        FIRST,
        *(needless(f"{word} policies") for word in ("other", "similar", "related", "further")),
        texts=("It is in src/retry.py." + SUFFICIENT,),
    ),
    "several searches a turn": agent(
        FIRST,
        (needless("RetryPolicy class"), needless("RetryPolicy file")),
        (needless("RetryPolicy module"), needless("class of RetryPolicy")),
        (needless("RetryPolicy source"), needless("RetryPolicy code")),
    ),
    "reads the same file from other lines on": agent(
        FIRST,
        read("src/retry.py", page("src/retry.py", "class RetryPolicy(Backoff):", "    attempts = 3", "    wait_s = 1")),
        *(
            read("src/retry.py", page("src/retry.py", "    attempts = 3"), needed=False, start=line)
            for line in range(2, 8)
        ),
    ),
    "reads two known files again and again, far apart": agent(
        FIRST,
        read("a.py", page("a.py", "a = 1")),
        read("b.py", page("b.py", "b = 1")),
        read("c.py", page("c.py", "c = 1")),
        read("d.py", page("d.py", "d = 1")),
        *(
            read(name, page(name, f"{name[0]} = 1"), needed=False)
            for name in ("a.py", "b.py", "c.py", "d.py", "a.py", "b.py", "c.py", "d.py")
        ),
    ),
    "checks each finding twice": agent(
        FIRST,
        look("RetryPolicy tests", hit(TESTS)),
        needless("tests of RetryPolicy", hit(TESTS)),
        needless("test RetryPolicy", hit(TESTS)),
        needless("RetryPolicy testing", hit(TESTS)),
        needless("RetryPolicy in tests", hit(RETRY, TESTS)),
    ),
    "asks the question itself in other words": agent(
        FIRST,
        *(
            needless(query)
            for query in (
                "where is RetryPolicy",
                "where is the class RetryPolicy defined",
                "class RetryPolicy defined",
                "code RetryPolicy class defined in",
            )
        ),
    ),
    "paraphrases, each a little longer": agent(
        FIRST,
        needless("RetryPolicy backoff waiting time"),
        needless("RetryPolicy backoff waiting time seconds"),
        needless("RetryPolicy backoff waiting seconds doubled"),
        needless("RetryPolicy waiting doubled each time"),
        needless("RetryPolicy waiting doubled always"),
    ),
    "finds nothing at all, and does not believe it": agent(
        *(look(word, EMPTY) for word in ("zeppelin", "airship", "dirigible")),
        *(needless(f"zeppelin {word}", EMPTY) for word in ("class", "module", "file", "code", "usage", "history")),
        *(needless(f"airship {word}", EMPTY) for word in ("class", "module")),
    ),
    "two tools for the same words": agent(
        FIRST,
        look("RetryPolicy", hit(RETRY), needed=False, tool="grep"),
        *(needless(f"RetryPolicy {word}", tool="grep") for word in ("class", "file", "module")),
        *(needless(f"RetryPolicy {word}") for word in ("class", "file", "module")),
    ),
}

NAMES = ("Backoff", "Clock", "Jitter", "Budget", "Breaker", "Limiter")

THOROUGH: Mapping[str, Agent] = {
    "follows names from file to file": agent(
        FIRST,
        *(
            step
            for name, following in zip(NAMES, (*NAMES[1:], "object"), strict=True)
            for step in (
                look(name, hit((f"src/{name.lower()}.py", f"src/{name.lower()}.py:1: class {name}({following})"))),
                read(
                    f"src/{name.lower()}.py", page(f"src/{name.lower()}.py", f"class {name}({following}):", "    ...")
                ),
            )
        ),
    ),
    "reads a long file page by page": agent(
        *(
            read(
                "src/long.py",
                page("src/long.py", *(f"line {n}" for n in range(start, start + 40))),
                start=start,
            )
            for start in range(0, 480, 40)
        ),
    ),
    "reads a long file in pages that overlap": agent(
        *(
            read("src/long.py", page("src/long.py", *(f"line {n}" for n in range(start, start + 40))), start=start)
            for start in range(0, 360, 30)
        ),
    ),
    "reads every file of a list": agent(
        look("*.md", hit(*((f"docs/{n}.md", f"docs/{n}.md") for n in range(9)))),
        *(read(f"docs/{n}.md", page(f"docs/{n}.md", "# Licence", f"Chapter {n}.")) for n in range(9)),
    ),
    "reads every file of a list, some of them alike": agent(
        look("*.cfg", hit(*((f"conf/{n}.cfg", f"conf/{n}.cfg") for n in range(8)))),
        *(read(f"conf/{n}.cfg", ToolResult("mode = plain" if n < 7 else "mode = special")) for n in range(8)),
    ),
    "edits and tests until the tests pass": agent(
        read("src/retry.py", page("src/retry.py", "attempts = 3")),
        *(
            step
            for n in range(4)
            for step in (
                (True, calls("edit", path="src/retry.py", text=f"attempts = {n}"), ToolResult("Written.")),
                (True, calls("run_tests"), ToolResult("1 failed" if n < 3 else "All passed.")),
            )
        ),
    ),
    "edits and reads the same file": agent(
        *(
            step
            for n in range(5)
            for step in (
                read("src/retry.py", page("src/retry.py", "def run():", "    return 1", f"    # {n}")),
                (True, calls("edit", path="src/retry.py", text=f"# {n}"), ToolResult("Written.")),
            )
        ),
    ),
    "waits for a job whose answer changes late": agent(
        FIRST,
        *((True, calls("job_status", job="7"), ToolResult("running")) for _ in range(2)),
        (True, calls("job_status", job="7"), ToolResult("done: 3 files")),
    ),
    "two subjects, the second under its third name": agent(
        FIRST,
        look("log in", EMPTY),
        look("sign in", EMPTY),
        look("authentication", hit(("src/auth.py", "src/auth.py:1: def authenticate(user)"))),
    ),
    "one search that brings nothing new on the way": agent(
        FIRST,
        look("RetryPolicy subclass", hit(RETRY)),
        look("Backoff", hit(("src/backoff.py", "src/backoff.py:1: class Backoff"))),
        read("src/backoff.py", page("src/backoff.py", "class Backoff:", "    factor = 2")),
    ),
    "corrects its calls after errors": agent(
        FIRST,
        (True, calls("open", path="retry.py"), ToolResult("no such file: retry.py", is_error=True)),
        read("src/retry.py", page("src/retry.py", "class RetryPolicy(Backoff):", "    attempts = 3")),
        (True, calls("open", path="backoff.py"), ToolResult("no such file: backoff.py", is_error=True)),
        read("src/backoff.py", page("src/backoff.py", "class Backoff:", "    factor = 2")),
    ),
    "compares many things, each with a search of its own": agent(
        *(
            look(f"{name} default", hit((f"src/{name}.py", f"src/{name}.py:9: {name} = {n}")))
            for n, name in enumerate(("timeout", "retries", "pool", "cache", "depth", "width", "rate", "burst"))
        ),
    ),
    "several reads a turn": agent(
        look("handlers", hit(*((f"src/h{n}.py", f"src/h{n}.py:1: def handle_{n}()") for n in range(9)))),
        *(
            tuple(read(f"src/h{n}.py", page(f"src/h{n}.py", f"def handle_{n}():", f"    return {n}")) for n in group)
            for group in ((0, 1, 2), (3, 4, 5), (6, 7, 8))
        ),
    ),
    "narrows a search to one folder after the other": agent(
        FIRST,
        *(
            (True, calls("find", query="timeout", folder=folder), hit((f"{folder}/x.py", f"{folder}/x.py:1: timeout")))
            for folder in ("src", "lib", "tests", "tools", "scripts")
        ),
    ),
}


async def played(it: Agent) -> tuple[Answered, list[bool]]:
    """The query, and for each call that reached a tool whether it was needed."""
    reached: list[bool] = []
    waiting = list(it.steps)

    async def run(name: str, arguments: Mapping[str, Any]) -> ToolResult:
        at = next(n for n, (_, call, _) in enumerate(waiting) if (call.name, call.arguments) == (name, dict(arguments)))
        is_needed, _, result = waiting.pop(at)
        reached.append(is_needed)
        return result

    def tool(name: str, *, writes: bool = False) -> Tool:
        made = made_tool(lambda arguments: run(name, arguments), name)
        return replace(made, writes=writes, query_types=("code",))

    texts = (*it.texts, *("",) * len(it.turns))
    turns = [says(text, *(call for _, call, _ in turn)) for text, turn in zip(texts, it.turns, strict=False)]
    tools = [*(tool(name) for name in ("find", "grep", "open", "run_tests", "job_status")), tool("edit", writes=True)]
    config = AgentConfig(max_iterations=30, token_budget=200_000)
    async with harness([*turns, answers("It is in src/retry.py.")], wire=False, tools=tools, config=config) as made:
        return await made.ask(CODE_QUESTION), reached


@pytest.mark.parametrize("name", OVER_GATHERERS)
async def test_020_fr_018_an_over_gatherer_loses_half_of_its_needless_calls_and_none_that_it_needs(name: str) -> None:
    it = OVER_GATHERERS[name]
    answered, reached = await played(it)
    asked = [is_needed for is_needed, _, _ in it.steps]
    assert reached.count(True) == asked.count(True)
    assert reached.count(False) <= asked.count(False) / 2
    assert answered.reason == "completed"
    assert answered.answer.endswith("It is in src/retry.py.")


@pytest.mark.parametrize("name", THOROUGH)
async def test_020_fr_018_an_agent_whose_calls_are_all_needed_loses_none(name: str) -> None:
    answered, reached = await played(THOROUGH[name])
    assert len(reached) == len(THOROUGH[name].steps)
    assert answered.reason == "completed"


async def test_020_fr_017_what_was_tried_and_found_is_tracked() -> None:
    answered, _ = await played(agent(FIRST, look("zeppelin", EMPTY), look("tests of it", hit(TESTS))))
    gathered = answered.agent.gathering.gathered
    assert gathered.sources == {"src/retry.py", "tests/test_retry.py"}
    assert [(each.tool, each.shown, each.brought, each.new_sources) for each in gathered.tried] == [
        ("find", "RetryPolicy", "new", 1),
        ("find", "zeppelin", "nothing", 0),
        ("find", "tests of it", "new", 1),
    ]
    assert (gathered.groups_tried, gathered.groups_found) == (("code",), ("code",))


class Impatient:
    """A judge for which anything is enough."""

    name = "impatient"

    def judge(self, gathered: Gathered) -> Sufficiency:
        return Sufficiency("nothing_new", is_firm=True) if gathered.tried else Sufficiency()


class Broken:
    """A judge that fails."""

    name = "broken"

    def judge(self, gathered: Gathered) -> Sufficiency:
        raise RuntimeError(f"no verdict on {len(gathered.tried)} calls")


async def held_back_with(gathering: Callable[[], Gathering]) -> int:
    tool = made_tool(lambda _: _found(), "find")
    turns = [says("", calls("find", query=query)) for query in ("RetryPolicy", "RetryPolicy again")]
    async with harness([*turns, answers()], wire=False, tools=[tool], gathering=gathering) as made:
        answered = await made.ask(CODE_QUESTION)
    return sum(result.is_error for result in answered.results)


async def _found() -> ToolResult:
    return hit(RETRY)


async def test_020_fr_018_another_judge_takes_the_place_of_the_heuristic() -> None:
    assert await held_back_with(lambda: GatheringLog(by=Impatient())) == 1


async def test_020_fr_022_where_the_judge_fails_the_heuristic_answers() -> None:
    assert await held_back_with(lambda: GatheringLog(by=Broken())) == 0


async def test_without_a_judge_each_call_is_run() -> None:
    assert await held_back_with(Gathering) == 0


# --- The sources that the question needs have answered

ANSWERING = "Where is RetryPolicy?"
NOTED = "Each source that this question needs has brought something."


async def advised(question: str, *turns: Any, tools: Any = None) -> Answered:
    found = made_tool(lambda _: _found(), "find")
    opened = made_tool(lambda arguments: _opened(arguments["path"]), "open")
    noted = replace(made_tool(lambda _: _found(), "notes"), group="vault")
    made = tools or [replace(each, query_types=("code", "documentation")) for each in (found, opened, noted)]
    config = AgentConfig(max_iterations=30, token_budget=200_000)
    async with harness([*turns, answers()], wire=False, tools=made, config=config) as it:
        return await it.ask(question)


async def _opened(path: str) -> ToolResult:
    return page(path, f"# {path}", f"a line of {path} about RetryPolicy")


def notes_of(answered: Answered) -> list[str]:
    """The note that is new in each request."""
    counts = [sum(each["role"] == "system" for each in request.messages) for request in answered.requests]
    last = [request.messages[-1] for request in answered.requests]
    return [
        message["content"][-1]["text"] if now > before else ""
        for message, before, now in zip(last, [0, *counts], counts, strict=False)
    ]


def opens(*paths: str, text: str = "") -> Any:
    return says(text, *(calls("open", path=path) for path in paths))


async def test_020_sc_003_by_round_two_the_model_reads_that_the_sources_have_answered() -> None:
    search = says("", calls("find", query="RetryPolicy"))
    answered = await advised(ANSWERING, search, opens("a.py"), opens("b.py"), opens("c.py"))
    notes = notes_of(answered)
    assert [NOTED in note for note in notes] == [False, False, True, False, False]


async def test_020_sc_003_after_that_one_call_runs_and_then_the_answer_is_required() -> None:
    search = says("", calls("find", query="RetryPolicy"))
    rounds = [opens(f"{n}a.py", f"{n}b.py", f"{n}c.py") for n in range(2)]
    answered = await advised(ANSWERING, search, *rounds)
    held = [result.tool_result for result in answered.results if result.is_error]
    assert (len(answered.results) - len(held), len(held)) == (5, 2)
    assert all("has brought something, and the further call is used. Answer now" in each for each in held)
    assert answered.requests[3].tool_choice == "none"
    assert answered.reason == "completed"


async def test_020_sc_003_a_model_that_names_what_is_missing_has_two_calls() -> None:
    search = says("", calls("find", query="RetryPolicy"))
    named = opens("d.py", "e.py", "f.py", text=signal_xml("need_turn", reason="where it is tested is missing"))
    answered = await advised(ANSWERING, search, opens("a.py"), named)
    assert sum(result.is_error for result in answered.results[-3:]) == 1


OTHER_WORDS = "Why do visitors wait twice?"
"""No result has words of it, though the answer is there."""


async def test_020_sc_003_who_begins_with_many_calls_goes_on_with_two_and_is_then_asked_to_answer() -> None:
    answered = await advised(OTHER_WORDS, opens("a.py", "b.py", "c.py"), opens("d.py", "e.py", "f.py", "g.py"))
    held = [result.tool_result for result in answered.results if result.is_error]
    assert len(answered.results) - len(held) == 5
    assert ["calls to sources that were asked before only 2 are run" in each for each in held] == [True, True]
    assert [NOTED in note for note in notes_of(answered)] == [False, False, True]


async def test_020_sc_003_who_looks_at_one_thing_after_the_other_is_not_asked_by_their_number() -> None:
    answered = await advised(OTHER_WORDS, *(opens(f"{n}.py") for n in range(8)))
    assert not [note for note in notes_of(answered) if NOTED in note]
    assert not [result for result in answered.results if result.is_error]


async def test_020_sc_003_what_is_to_be_written_is_written_although_the_sources_have_answered() -> None:
    async def written(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult("Written.")

    find, read_it = made_tool(lambda _: _found(), "find"), made_tool(lambda each: _opened(each["path"]), "open")
    write = replace(made_tool(written, "edit"), writes=True)
    tools = [replace(each, query_types=("action",)) for each in (find, read_it, write)]
    steps = [
        says("", calls("find", query="RetryPolicy")),
        opens("a.py"),
        opens("b.py"),
        says("", calls("edit", path="a")),
    ]
    answered = await advised("Please write a note: RetryPolicy waits a minute.", *steps, tools=tools)
    assert answered.results[-1].tool_result == "Written."


@pytest.mark.parametrize(
    "question",
    [
        "Does the code of RetryPolicy do what we decided about it?",
        "List every place where RetryPolicy is used.",
        "Compare RetryPolicy in the code with each of the others.",
    ],
)
async def test_020_sc_003_a_question_for_more_than_was_found_is_not_cut_short(question: str) -> None:
    search = says("", calls("find", query="RetryPolicy"))
    answered = await advised(question, search, *(opens(f"{n}.py") for n in range(12)))
    assert not [note for note in notes_of(answered) if NOTED in note]
    assert not [result for result in answered.results if result.is_error]


async def test_020_sc_003_a_source_that_was_not_asked_yet_is_never_held_back() -> None:
    search = says("", calls("find", query="RetryPolicy"))
    rounds = [opens(f"{n}a.py", f"{n}b.py", f"{n}c.py") for n in range(2)]
    other = says("", calls("notes", query="RetryPolicy"))
    answered = await advised(ANSWERING, search, *rounds, opens("x.py"), other)
    assert [result.is_error for result in answered.results][-1:] == [False]


def test_what_a_question_without_words_that_count_has_gathered_stays() -> None:
    log, tools = GatheringLog(), ToolRegistry([])
    log.begin_turn("What is it?")
    call = ToolUse("c1", "probe", {})
    action = ToolAction("probe", "{}")
    log.take([CallResult(call, "x", False, True, False, "code", action, began=True)], tools, turn=1, signal=None)
    log.begin_turn("What is it?")
    assert len(log.gathered.tried) == 1
