"""Whether a response ends by announcing what the model is about to do."""

import json
from pathlib import Path

import pytest

from oracle.classify import announces

LABELLED = Path(__file__).parents[2] / "data" / "labelled"

ANNOUNCEMENTS = [
    "Let me look into that.",
    "Good question! I'll search the notes.",
    "Sure, I will check the retry policy now...",
    "I\u2019m going to read `docs/internals/design.md` first.",
    "The class is in src/retry.py. Next I'll open the tests to see how it is used.",
    "So far two of five services are covered.\n\n**Let me read the remaining three before I answer.**",
    "I am now searching the code for usages.",
    "Found the ADR. Checking the tests.",
    "One moment, please.",
    "Before I answer, I need to look at the migration scripts.",
    "```python\nrun()\n```\nI will now trace who calls it.",
    "Ich habe die Datei gefunden. Als N\u00e4chstes lese ich die Tests dazu.",
    "Ich werde jetzt in den Notizen suchen.",
    "Je vais chercher dans les notes.",
    "Voy a revisar el c\u00f3digo.",
    "Vou verificar o c\u00f3digo.",
    "Let me see if there is a test for it.",
    "Let me take a closer look.",
    "Nothing so far. I'll keep searching.",
]
OTHERS = [
    "",
    "It is defined in `src/retry.py:1`.",
    "Let me know if you want more.",
    "If you send me the log, I will look at it.",
    "I will check it again tomorrow.",
    "I'll read it once the file exists.",
    "I will not search the notes for that.",
    "Shall I look into the tests?",
    "I looked into the tests, and they pass.",
    "I will look at the tests. They are in tests/test_retry.py.",
    "Reading the whole archive exceeds what I can do in one conversation; a research agent should take this over.",
    "I'm missing a way to open PDF attachments.",
    "```\nlet me look\n```",
    "# Let me look",
    "> Let me look into that.",
    "You're welcome. I will be brief from now on.",
    "Got it. I'll keep answers short.",
    "Goodbye, I'll see you on Monday.",
    "Thanks! I'll remember that.",
    "Searching is done by `oracle/core/search`, which keeps one index for the code and one for the notes of each user.",
]


@pytest.mark.parametrize("text", ANNOUNCEMENTS)
def test_an_announcement_at_the_end_is_detected(text: str) -> None:
    assert announces(text)


@pytest.mark.parametrize("text", OTHERS)
def test_what_announces_nothing(text: str) -> None:
    assert not announces(text)


def test_no_labelled_response_of_another_kind_is_taken_for_one_and_half_of_those_of_work_in_progress_are() -> None:
    files = sorted(LABELLED.glob("*responses*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found = [line["signal"] == "need_turn" for line in lines if announces(line["response"])]
    going_on = sum(line["signal"] == "need_turn" for line in lines)
    assert len(lines) > 400
    assert all(found)
    assert len(found) >= 0.5 * going_on


@pytest.mark.parametrize("part", ["let me ", "so, ", "now ", "a. ", "ich werde ", "before i look "])
def test_long_texts_are_read_in_linear_time(part: str) -> None:
    assert not announces(part * 50_000)
