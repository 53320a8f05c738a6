"""Parses Markdown files of the vault: title, tags and text of a note, entries of a thread.

Only `title` and `tags` of the front matter are read, without a YAML parser: a note is untrusted text, and one whose
front matter is not valid YAML is still a note.
"""

import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from bt_runtime.text.data import dataclass

THREADS_FOLDER = "threads"
NOTE_SUFFIXES = (".md", ".markdown")
_FRONT_MATTER_LINES = 100
_HEADING = re.compile(r"#\s+(?P<title>\S.*)")
_KEY = re.compile(r"^(?P<key>[A-Za-z_]+)\s*:\s*(?P<value>.*)$")
_ENTRY = re.compile(r"^## (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))[^\S\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VaultNote:
    """A note.

    Args:
        title: of the front matter, else the first heading, else the file name.
        tags: without `#`.
        text_line: the first line after the front matter, from 1.
    """

    title: str
    tags: tuple[str, ...]
    text_line: int


class ThreadEntry(NamedTuple):
    """An entry of a thread.

    Args:
        line: the line number of the entry's heading, from 1.
        time: the text of the time in the heading; not parsed.
        text: everything between its heading and the next one, unchanged.
    """

    line: int
    time: str
    text: str


def is_note(name: str) -> bool:
    """Whether a file name is of a visible Markdown file."""
    return name.casefold().endswith(NOTE_SUFFIXES) and not name.startswith(".")


def is_thread(path: str) -> bool:
    """Whether a path relative to the vault is of a thread."""
    return path.split("/", 1)[0].casefold() == THREADS_FOLDER and "/" in path


def read_note(lines: Sequence[str], *, path: str) -> VaultNote:
    """Title and tags of a note."""
    end = _front_matter_end(lines)
    title, tags = _front_matter(lines[1 : end - 1]) if end else ("", [])
    if not title:
        title = next(filter(None, map(_heading, lines[end : end + 200])), "")
    return VaultNote(title or PurePosixPath(path).stem, tuple(dict.fromkeys(tags)), end + 1)


def read_entries(text: str) -> list[ThreadEntry]:
    """The entries of a thread, oldest first; text before the first heading of an entry is not part of any."""
    headings = list(_ENTRY.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    entries, line, at = [], 1, 0
    for heading, end in zip(headings, ends, strict=False):
        line += text.count("\n", at, heading.start())
        at = heading.start()
        entries.append(ThreadEntry(line, heading["time"], text[heading.end() : end]))
    return entries


def entry_text(time: str, content: str) -> str:
    """The text of an entry to append; a line of the content that looks like an entry's heading is escaped."""
    lines = [f"\\{line}" if _ENTRY.match(line.lstrip("\\")) else line for line in content.strip().split("\n")]
    return "\n".join(["", f"## {time}", "", *lines, ""])


def unescaped(line: str) -> str:
    """Undo the escaping of `entry_text` in a line."""
    return line[1:] if line.startswith("\\") and _ENTRY.match(line.lstrip("\\")) else line


def with_title(body: str, title: str | None) -> str:
    """Add the title to a note's text: in its front matter if it has one, else as the first heading."""
    body = body.replace("\r\n", "\n")
    text = body if body.endswith("\n") else f"{body}\n"
    title = " ".join((title or "").split())
    if not title:
        return text
    lines = text.split("\n")
    end = _front_matter_end(lines)
    if end:
        has_title = bool(_front_matter(lines[1 : end - 1])[0])
        return (
            text if has_title else "\n".join([lines[0], f"title: {json.dumps(title, ensure_ascii=False)}", *lines[1:]])
        )
    if _heading(text.lstrip().split("\n", 1)[0]).casefold() == title.casefold():
        return text
    return f"# {title}\n\n{text.lstrip()}"


def _heading(line: str) -> str:
    """The title in a first-level heading, without closing `#`; empty if the line is no such heading."""
    found = _HEADING.match(line)
    title = found["title"] if found else ""
    return title.rstrip("#").rstrip() or title[:1]


def _front_matter_end(lines: Sequence[str]) -> int:
    """The number of lines of the front matter with its delimiters; 0 if there is none."""
    if not lines or lines[0].strip("\ufeff ") != "---":
        return 0
    for number, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=2):
        if line.rstrip() in {"---", "..."}:
            return number
    return 0


def _front_matter(lines: Sequence[str]) -> tuple[str, list[str]]:
    title = ""
    tags: list[str] = []
    key = ""
    for line in lines:
        found = _KEY.match(line)
        if found:
            key, value = found["key"].casefold(), found["value"].strip()
            if key == "title":
                title = _plain(value)
            elif key in {"tags", "tag"}:
                tags += [_plain(tag) for tag in re.split(r"[,\s]+", value.strip("[]")) if tag]
        elif key in {"tags", "tag"} and line.strip().startswith("- "):
            tags.append(_plain(line.strip()[2:]))
    return title, [tag.lstrip("#") for tag in tags if tag.lstrip("#")]


def _plain(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return value.strip()
