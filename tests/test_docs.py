"""What all pages have in common: their names, files, figures and links are the product's, and their Python runs."""

import json
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest
import yaml

from benchmarks.eval.questions import ALL, ASKED
from oracle.agent.gathering import REASONS
from oracle.core.chunks import TokenUsage
from oracle.core.metrics import Metrics
from oracle.features.encoder.loading import KINDS, MOST_TOKENS
from oracle.features.encoder.thread import PATIENCE_S, REST_S, SLOW_IN_A_ROW, EncodedOutcome
from oracle.features.verifier.exploring import DEFAULT_MEGABYTES, DEFAULT_SECONDS, DEFAULT_STATES
from oracle.features.verifier.verify import DEFAULT_TURNS
from oracle.features.webhooks import sending
from oracle.replay.exports.formats import EXPORT_FORMATS
from oracle.runs.options import RunOptions
from oracle.runs.record.events import LogEvent
from oracle.runs.storage.seeding import LONGEST_TEXT, MOST_MESSAGES
from oracle.server.api.history_replies import HistoryPage
from oracle.server.api.replies import Me, Tick
from oracle.server.api.whole_runs import MOST_TICKS
from oracle.server.settings.fields import Settings
from oracle.server.settings.table import settings_table

ROOT = Path(__file__).parents[1]
FILES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
EVERYTHING = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
SETTINGS = {row.name for row in settings_table()}
ELSEWHERE = {"ORACLE_KEY", "ORACLE_TOKEN", "ORACLE_URL", "ORACLE_TEST_DATABASE_URL", "ORACLE_MAX", "ORACLE_MODLE"}
"""Variables of clients and of tests, the beginning of several settings, and one that is misspelt on purpose."""


def found(pattern: str, text: str = EVERYTHING) -> list[str]:
    return sorted(set(re.findall(pattern, text, re.MULTILINE)))


# --- links


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub makes links of them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", FILES, ids=lambda path: path.stem)
def test_each_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in found(r"\]\(((?!https?:)[^)\s]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


# --- names


def test_every_setting_exists() -> None:
    assert set(found(r"\bORACLE_[A-Z_]*[A-Z]")) - SETTINGS == ELSEWHERE


def test_every_metric_exists() -> None:
    metrics = Metrics()
    metrics.costs_of = lambda _, used: dict.fromkeys(used.by_kind, 0.01)
    metrics.used("claude-opus", TokenUsage(output_tokens=1))
    metrics.rated("up")
    metrics.run_started("oracle")
    metrics.run_ended("oracle", "completed", seconds=1)
    metrics.tool_ended("read_file", 1, is_error=False)
    metrics.watch_encoder(lambda: True)
    metrics.watch_spans(lambda: dict.fromkeys(found(r'oracle_trace_spans_total.*outcome="(\w+)"'), 1))
    metrics.text_encoded("query", "read", 0.01)
    metrics.shadow_begun()
    metrics.shadow_ended("finished", tokens=1, similarity=1.0)
    metrics.shadow_dropped("queue_full")
    for outcome in OUTCOMES:
        metrics.webhook(outcome)
    metrics.auxiliary_answered("title", "known", tokens=1)
    shown = metrics.exposition().decode()
    named = found(r"\b((?:oracle|process)_[a-z_]+_(?:total|seconds|bytes|active|ready|writable|similarity|fds))\b")
    assert len(named) > 30
    assert [name for name in named if not re.search(rf"^{name}(_bucket)?[ {{]", shown, re.MULTILINE)] == []


def test_every_program_and_file_that_is_named_exists() -> None:
    assert [name for name in found(r"-m (benchmarks[.\w]*)") if find_spec(name) is None] == []
    files = found(r"`((?:oracle|bt_runtime|signals|prompts|tests|benchmarks|examples|docs|connect)/[\w/]+\.\w+)`")
    assert len(files) > 10
    places = [ROOT / (f"oracle/server/{name}" if name.startswith("connect/") else name) for name in files]
    assert [str(place) for place in places if not place.exists()] == []


OUTCOMES = ("delivered", "failed", "given_up")
NAMED: dict[str, Iterable[str]] = {
    "classification": (*KINDS, *get_args(EncodedOutcome)),
    "control": REASONS,
    "chat": (
        *Me.model_fields,
        *(set(HistoryPage.model_fields) - {"format", "version", "next"}),
        *(Tick.model_fields.keys() & {"turn", "decision", "headline", "marks", "why", "visits"}),
        *OUTCOMES,
    ),
    "watching": EXPORT_FORMATS,
}


@pytest.mark.parametrize("page", NAMED)
def test_what_there_is_is_on_the_page(page: str) -> None:
    assert [name for name in NAMED[page] if f"`{name}`" not in PAGES[page]] == []


def test_each_kind_of_event_is_in_the_table_with_its_class() -> None:
    rows = [line.split("|")[1:3] for line in PAGES["event-log"].splitlines() if line.startswith("| `")]
    listed = [
        pair
        for kinds, classes in rows
        for pair in zip(re.findall(r"`(\w+)`", kinds), re.findall(r"`(\w+)`", classes), strict=True)
    ]
    assert sorted(listed) == sorted((each.kind, each.__name__) for each in get_args(LogEvent))


def test_the_headers_of_chat_products_are_those_that_are_read() -> None:
    page, settings = PAGES["chat"], Settings()
    known = {*settings.conversation_headers, *settings.task_headers}
    assert set(found(r"\bX-[A-Za-z-]+\b", page)) - {"X-Run-Id"} <= known
    [of_open_webui] = found(r"^Headers +(\{.+\})$", page)
    assert json.loads(of_open_webui).keys() <= known
    [of_librechat] = re.findall(r"```yaml\n(.+?)```", page, re.DOTALL)
    [endpoint] = yaml.safe_load(of_librechat)["endpoints"]["custom"]
    assert endpoint["headers"].keys() <= {*settings.conversation_headers}


# --- figures

SAID = {
    "protocols": (f"the newest {MOST_MESSAGES} messages", f"{LONGEST_TEXT:,} characters of each"),
    "classification": (
        f"longer than {PATIENCE_S * 1000:.0f} ms",
        f"after {REST_S:.0f} s",
        f"the last {MOST_TOKENS // 2} tokens",
        "three texts in a row",
    ),
    "chat": (
        f"of up to {MOST_TICKS:,} ticks",
        f"within {sending.LIMIT_S:g} seconds",
        f"after {sending.AGAIN.first_s:g} seconds",
    ),
    "testing": (
        f"`max_iterations` is {DEFAULT_TURNS} ",
        f"{DEFAULT_STATES:,} states",
        f"{DEFAULT_SECONDS:g} seconds",
        f"{DEFAULT_MEGABYTES:,} MB",
    ),
    "measured": (f"asks {len(ASKED)} of these conversations", f"`--all` asks all {len(ALL)}"),
}


@pytest.mark.parametrize("page", SAID)
def test_the_figures_and_words_of_the_page_are_the_products(page: str) -> None:
    assert [said for said in SAID[page] if said not in PAGES[page]] == []


def test_defaults_that_pages_spell_out_are_the_defaults() -> None:
    auth, options = Settings(tokens={"t": "anna"}), RunOptions()
    assert (auth.runs_per_user, auth.requests_per_minute, auth.max_body_bytes) == (8, 60, 1_000_000)
    assert (auth.retain_days, auth.retain_mb, auth.drain_s, auth.reader_grace_s) == (30, 0, 10, 60)
    assert (auth.debug, auth.debug_lease_s) == (False, 120)
    assert (options.heartbeat_s, options.silent_s, options.most_unsaved_bytes) == (1, 5, 3_000_000)
    assert (sending.AGAIN.longest_s, sending.GIVE_UP_S, SLOW_IN_A_ROW) == (3_600, 86_400, 3)


# --- examples


@pytest.mark.parametrize("page", ["classification", "event-log"])
def test_the_python_of_the_page_runs_one_block_after_the_other(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGES[page], re.DOTALL | re.MULTILINE)
    assert blocks
    exec(compile("\n".join(blocks), f"docs/{page}.md", "exec"), {})


def test_the_adapter_of_the_page_is_the_one_of_the_tests() -> None:
    adapter = (ROOT / "tests" / "oracle" / "server" / "connect" / "base" / "adapter.py").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", PAGES["protocols"], re.DOTALL)
    assert len(blocks) == 3
    assert [block for block in blocks if block not in adapter] == []
