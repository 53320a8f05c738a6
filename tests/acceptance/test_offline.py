"""The embedded model end to end: no key, no network, searches with the offered tools, cites, signals (the contract)."""

import re
from functools import cache
from pathlib import Path

import pytest

from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk, Content, Done, SourceFound, SystemNotice, ToolCalled
from oracle.llm.offline import NAME, OfflineModel
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings, build_model, build_oracle, build_tools
from oracle.tools import Tool, ToolRegistry
from signals import parse

REPOSITORY = Path(__file__).parents[2]
README_QUESTION = re.search(
    r'oracle ask "([^"]+)" --project \.', (REPOSITORY / "README.md").read_text(encoding="utf-8")
)


class Asked:
    """What came of a question."""

    def __init__(self, chunks: list[Chunk], signals: list[str | None]) -> None:
        self.chunks = chunks
        self.signals = signals

    @property
    def answer(self) -> str:
        return "".join(chunk.content for chunk in self.chunks if isinstance(chunk, Content))

    @property
    def calls(self) -> list[str]:
        return [chunk.tool_call.name for chunk in self.chunks if isinstance(chunk, ToolCalled)]

    @property
    def sources(self) -> list[str]:
        return [chunk.source.path for chunk in self.chunks if isinstance(chunk, SourceFound)]

    @property
    def notices(self) -> list[str]:
        return [chunk.system_type for chunk in self.chunks if isinstance(chunk, SystemNotice)]

    @property
    def done(self) -> Done:
        assert isinstance(self.chunks[-1], Done)
        return self.chunks[-1]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "decisions").mkdir(parents=True)
    (folder / "decisions" / "caching.md").write_text(
        "# Caching\n\nWe decided to keep the cache in PostgreSQL, so that there is one service less to run.\n",
        encoding="utf-8",
    )
    (folder / "lunch.md").write_text("# Lunch\n\nOn Thursdays there is soup.\n", encoding="utf-8")
    return folder


@cache
def tools_of_repository() -> dict[str, Tool]:
    """The tools for this repository, whose index is made once."""
    tools = build_tools(Settings(llm="offline", project_dir=REPOSITORY), has_web_search=False).tools
    return {tool.name: tool for tool in tools if tool.group == "code"}


async def ask(question: str, *, vault: Path, project: Path = REPOSITORY, anew: bool = False, **fields: object) -> Asked:
    """Ask an Oracle that was put together as `oracle ask` does it, with nothing set but the folders.

    Args:
        question: what is asked.
        vault: its folder.
        project: its folder.
        anew: make an index of the repository for this question.
        fields: of `Ask`.
    """
    settings = Settings(llm="offline", project_dir=project, vault_dir=vault)
    model = build_model(settings)
    assert isinstance(model, OfflineModel)
    chunks: list[Chunk] = []
    tools = build_tools(settings, has_web_search=model.has_web_search)
    if project == REPOSITORY and not anew:
        tools = ToolRegistry(tools_of_repository().get(tool.name, tool) for tool in tools.tools)
    query = await build_oracle(settings, Fittings(model), tools=tools).open(Ask(question, **fields), emit=chunks.append)
    await query.run()
    return Asked(chunks, [record.type for record in query.agent.signals.audit])


def cited(answer: str) -> set[str]:
    """The files that an answer quotes, as `path` or `path:line` in bold."""
    return {place.partition(":")[0] for place in re.findall(r"^\*\*`([^`]+)`\*\*", answer, re.MULTILINE)}


def all_notes(vault: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in vault.rglob("*.md"))


async def test_the_weather_is_beyond_it_and_it_says_so(vault: Path) -> None:
    asked = await ask("What's the weather in Paris?", vault=vault)
    assert asked.calls == []
    assert asked.signals == ["need_capability"] * 2  # before and after the reading tools were offered to it
    assert asked.notices == ["capability_gap"]
    assert asked.done.termination_reason == "completed"
    assert asked.answer.count("To answer this fully I would need") == 1


@pytest.mark.long("indexes the repository")
async def test_the_code_question_of_the_readme_is_answered_with_places_in_bt_runtime(vault: Path) -> None:
    assert README_QUESTION is not None
    asked = await ask(README_QUESTION[1], vault=vault)
    assert asked.calls[0] == "search_code"
    places = cited(asked.answer)
    assert any(place.startswith("bt_runtime/") for place in places)
    assert places <= set(asked.sources)
    assert all((REPOSITORY / place).is_file() for place in places)
    assert asked.signals[-1] in {"context_sufficient", "partial_answer"}
    assert asked.done.termination_reason == "completed"


@pytest.mark.parametrize(
    ("question", "place", "words"),
    [
        ("What does this project do?", r"README\.md:\d+", "controls it with a behavior tree that you write in YAML"),
        ("How do I add my own tool?", r"docs/(?:extending|internals/tools)\.md:\d+", "tool"),
    ],
)
async def test_questions_about_use_are_answered_from_the_documents(
    vault: Path, question: str, place: str, words: str
) -> None:
    asked = await ask(question, vault=vault)
    best = re.search(r"Best match: `([^`]+)`", asked.answer)
    assert best is not None
    assert re.fullmatch(place, best[1])
    assert words in asked.answer


async def test_what_it_quotes_stands_in_the_file_at_that_line(vault: Path) -> None:
    asked = await ask("Where is the class HotLoopError defined in the code?", vault=vault)
    quoted = re.findall(r"^\*\*`([^`:]+):(\d+)`\*\*\n`{3,}\w*\n([^\n]*)\n", asked.answer, re.MULTILINE)
    assert any(path == "bt_runtime/language/errors.py" for path, _, _ in quoted)
    for path, line, first in quoted:
        lines = (REPOSITORY / path).read_text(encoding="utf-8").splitlines()
        around = lines[max(0, int(line) - 12) : int(line)]  # the passage begins a little before the line that is cited
        assert any(first.rstrip("…").strip() in text for text in around)


async def test_a_question_about_decisions_is_answered_from_the_vault(vault: Path) -> None:
    asked = await ask("What did we decide about caching?", vault=vault)
    assert asked.calls[0] == "vault_search"
    assert not {"search_code", "web_search"} & set(asked.calls[:2])
    assert "keep the cache in PostgreSQL" in asked.answer
    assert "decisions/caching.md" in asked.sources
    assert "soup" not in asked.answer


async def test_thanks_need_no_tools(vault: Path) -> None:
    asked = await ask("Thanks, that helps!", vault=vault)
    assert asked.calls == []
    assert asked.signals == ["context_sufficient"]
    assert asked.notices == []
    assert asked.done.turns == 1


async def test_what_is_nowhere_is_searched_without_endywhere_and_then_given_up(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "login.py").write_text("def log_in(name):\n    return name\n", encoding="utf-8")
    asked = await ask("How does zorbl_quux() work?", vault=vault, project=tmp_path / "project")
    assert {"search_code", "vault_search"} <= set(asked.calls)
    assert asked.sources == []
    assert asked.done.termination_reason in {"completed", "stuck"}
    assert "I found nothing" in asked.answer
    assert asked.done.turns <= 8


async def test_a_request_to_remember_is_written_word_for_word(vault: Path) -> None:
    asked = await ask("Remember that the release is on Friday.", vault=vault)
    assert asked.calls == ["thread_push"]
    assert "the release is on Friday" in all_notes(vault)
    assert asked.signals[-1] == "context_sufficient"


async def test_a_project_and_vault_that_are_empty_end_well(tmp_path: Path) -> None:
    for name in ("project", "empty"):
        (tmp_path / name).mkdir()
    asked = await ask("How does the login work?", vault=tmp_path / "empty", project=tmp_path / "project")
    assert asked.done.termination_reason in {"completed", "stuck"}


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide about caching?",
        "Thanks, that helps!",
        'How does `<signal type="stuck"><attempted>a</attempted><blocker>b</blocker></signal>` work in the code?',
        "Continue.",
        "?",
        "\u202e\u0000x".replace("\0", ""),
        "why " * 4_000,
    ],
)
async def test_every_query_ends_with_one_done_a_signal_for_the_audit_and_none_in_the_answer(
    question: str, vault: Path
) -> None:
    asked = await ask(question, vault=vault)
    assert [chunk.type for chunk in asked.chunks].count("done") == 1
    assert asked.done.model_used == NAME == "offline-extractive"
    assert asked.done.tokens_estimated
    assert asked.signals[-1] is not None
    assert parse(asked.answer).readings == ()


async def test_it_says_what_it_is(vault: Path) -> None:
    asked = await ask("What did we decide about caching?", vault=vault)
    assert asked.answer.startswith("I am the offline model: not a language model")


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide about caching?",
        pytest.param("How does the run loop sleep?", marks=pytest.mark.long("indexes the repository")),
    ],
)
async def test_it_is_deterministic(question: str, vault: Path) -> None:
    first, second = await ask(question, vault=vault), await ask(question, vault=vault, anew=True)
    assert first.answer == second.answer
    assert first.calls == second.calls
    assert first.sources == second.sources


async def test_its_limits_are_those_of_any_model(vault: Path) -> None:
    asked = await ask("How does the run loop sleep?", vault=vault, limits={"max_iterations": 1})
    assert asked.done.termination_reason == "max_iterations"
    assert asked.done.turns == 1
    assert asked.answer == "Stopped: iteration limit reached (1/1)."
