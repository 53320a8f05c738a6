"""The title of a conversation in a list: one line of bounded length, from any text."""

import unicodedata

MOST_CHARS = 80
"""The longest title that is made from a question."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories left out of titles: control and format characters, surrogates, private use and unassigned."""


def one_line(text: str) -> str:
    """The text on one line, without invisible characters and without those that change how others are displayed."""
    if text.isascii() and text.isprintable():  # as most are
        return " ".join(text.split())
    words = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_seen(char)).split()
    return " ".join(words)


def title_of(question: str) -> str:
    """A title from the first question, cut at a word; empty if it has no visible characters."""
    line = one_line(question[: 20 * MOST_CHARS])
    if len(line) <= MOST_CHARS:
        return line
    cut = line[: MOST_CHARS - 1]
    words, _, _ = cut.rpartition(" ")
    return f"{words if len(words) > MOST_CHARS // 2 else cut}…"


def _is_seen(char: str) -> bool:
    return char in "\u200c\u200d" or unicodedata.category(char) not in _UNSEEN  # joiners are part of words and emoji
