"""What a conversation is called in a list: one line of bounded length, whatever text it comes from."""

import unicodedata

MOST_CHARS = 80
"""Of a title that is made from a question."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories that no title shows: control characters, directions of writing, and what is no character."""


def one_line(text: str) -> str:
    """The text on one line, without characters that cannot be seen or that change how others are shown."""
    words = "".join(" " if char.isspace() else char for char in text if char.isspace() or _is_seen(char)).split()
    return " ".join(words)


def title_of(question: str) -> str:
    """A title from the first question, cut at a word; empty if nothing in it can be seen."""
    line = one_line(question[: 20 * MOST_CHARS])
    if len(line) <= MOST_CHARS:
        return line
    cut = line[: MOST_CHARS - 1]
    words, _, _ = cut.rpartition(" ")
    return f"{words if len(words) > MOST_CHARS // 2 else cut}…"


def _is_seen(char: str) -> bool:
    return char in "\u200c\u200d" or unicodedata.category(char) not in _UNSEEN  # joiners are part of words and emoji
