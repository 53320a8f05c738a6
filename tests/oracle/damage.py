"""Damaged files: texts of trees and scenarios, changed at random in the ways in which editors, merges and people do.

Each damage is a function of a random generator and a text, so a number always names the same file.
"""

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bt_runtime.analysis.files import codes_of
from oracle.agent.nodes import REGISTRY
from trees import FOLDER

Damage = Callable[[random.Random, str], str]

_SAMPLES = Path(__file__).parents[1] / "data"
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_EXPRESSIONS = (
    "turn < 3",
    "turn",
    "not turn",
    "0 < turn < turn_limit - 1",
    "signal == 'stuck' or same_reason >= 3",
    "tools_tried[0] in ['a', 'b']",
    "min(turn, 3) + len(question) // 2 > 1e308 * 10",
    "'a' * 3",
    "1 / 0",
    "null > 3",
    "((((((((((turn))))))))))",
    "not " * 60 + "turn",
    "turn - turn * turn % turn",
    "a.b.c['d'][1]",
    "${turn}",
    "'unclosed",
    "x if turn else y",
    "9" * 400,
    "\u0660 + \u4e00",
)
_VALUES = (
    *_EXPRESSIONS,
    "",
    "null",
    "~",
    "true",
    "-1",
    "0",
    "2.5",
    ".inf",
    "1e400",
    "0x" + "f" * 40,
    "[]",
    "{}",
    "*a",
    "&a 1",
    "!!python/object:os.system x",
    "<<",
    "? x",
    "|\n  text",
    ">-",
    "${x}",
    "yes",
    "2024-01-01",
    "\U0001f600",
    "a\u0301",
    "\u202e",
    "\x85",
    "\u2028",
    "\t",
    "\x00",
    "\ufeff",
    "a/b/../c",
    "x" * 3000,
)
_RULES = (
    "{ name: a, text: b, absence: { tool: vault_write, where: 'not path' } }",
    "{ name: a, text: b, at_most: { tool: any, times: 3 }, enforce: refuse }",
    "{ name: a, text: b, response: { first: turn, then: { end: any } }, after: { signal: stuck } }",
    "{ name: a, text: b, exactly: { turn: answer, times: 100000 } }",
    "{ name: a, text: b, existence: { key: turn, where: value > 1, times: 999 }, enforce: stop }",
    "{ name: a, text: b, not_co_existence: [explained, { node: turns, result: success }] }",
)


@cache
def trees() -> tuple[str, ...]:
    """Whole files: the shipped trees, and those that the checks are tested with."""
    folders = (FOLDER, _SAMPLES / "broken_trees", _SAMPLES / "sound_trees")
    return tuple(path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.yaml")))


@cache
def scenarios() -> tuple[str, ...]:
    """The shipped files of scenarios."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted((FOLDER / "scenarios").glob("*.yaml")))


@cache
def words() -> tuple[str, ...]:
    """What may stand in a tree file: kinds, settings, keys, fields, codes."""
    settings = {name for kind in REGISTRY.kinds.values() for name in kind.settings.model_fields}
    fields = (
        "tree",
        "description",
        "internal",
        "blackboard",
        "parameters",
        "rules",
        "root",
        "private",
        "default",
        "type",
    )
    return tuple(sorted({*REGISTRY.kinds, *settings, *REGISTRY.keys, *fields, *codes_of(REGISTRY)}))


def damaged(number: int, texts: tuple[str, ...]) -> bytes:
    """The file of this number: one of the texts, with one to four damages."""
    rng = random.Random(number)
    text = rng.choice(texts)
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(DAMAGES)(rng, text)
    return rng.choice(ENCODINGS)(rng, text)


# --- lines


def _line_removed(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        at = rng.randrange(len(lines))
        del lines[at : at + rng.randint(1, 3)]
    return "".join(lines)


def _line_repeated(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    return "".join([*lines[:to], lines[at], *lines[to:]])


def _lines_swapped(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def _line_indented(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines))
    lines[at] = rng.choice([" ", "  ", "\t", "    "]) + lines[at] if rng.random() < 0.5 else lines[at][2:]
    return "".join(lines)


def _cut_off(rng: random.Random, text: str) -> str:
    return text[: rng.randint(0, len(text))]


def _two_files_joined(rng: random.Random, text: str) -> str:
    other = rng.choice(trees())
    return text[: rng.randint(0, len(text))] + other[rng.randint(0, len(other)) :]


def _silenced(rng: random.Random, text: str) -> str:
    lines = text.splitlines() or [""]
    code = rng.choice([*codes_of(REGISTRY), "no-such", "", "a, b", "unused-silence"])
    reason = rng.choice([": it is right here", "", ":", ": \u202e", " golden"])
    comment = f"# silence {code}{reason}"
    at = rng.randrange(len(lines))
    lines[at] = f"{lines[at]} {comment}" if rng.random() < 0.7 else f"{comment}\n{lines[at]}"
    return "\n".join(lines)


# --- characters and words


def _character_changed(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    added = rng.choice(
        ["", ":", "-", "{", "}", "[", "]", "'", '"', "#", "&", "*", "!", "|", ">", "%", "@", "`", " ", "\n"]
    )
    return text[:at] + added + text[at + rng.randint(0, 2) :]


def _word_replaced(rng: random.Random, text: str) -> str:
    places = list(_WORD.finditer(text))
    if not places:
        return rng.choice(words())
    place = rng.choice(places)
    instead = rng.choice(words()) if rng.random() < 0.6 else rng.choice(_VALUES)
    return text[: place.start()] + instead + text[place.end() :]


def _value_inserted(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_VALUES) + text[at:]


def _odd_breaks(rng: random.Random, text: str) -> str:
    return text.replace("\n", rng.choice(["\r\n", "\r", "\x85", "\u2028", "\n\n", "\n\t"]), rng.choice([-1, 1, 5]))


# --- values


def _places(value: Any) -> list[tuple[Any, Any]]:
    """The first 5000 places of a value, each as its collection and the key or index in it; aliases multiply them."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(found) < 5000:
        inside = waiting.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside)) if isinstance(inside, list) else ()
        found += [(inside, key) for key in keys]
        waiting += [inside[key] for key in keys]
    return found[:5000]


def _node_changed(rng: random.Random, text: str) -> str:
    """Values removed, exchanged, replaced, or wrapped into another kind; comments are lost."""
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return text
    for _ in range(rng.randint(1, 3)):
        places = _places(value)
        if not places:
            break
        (inside, key), (other, other_key) = rng.choice(places), rng.choice(places)
        how = rng.randrange(5)
        if how == 0:
            del inside[key]
        elif how == 1:
            inside[key] = yaml.safe_load(yaml.safe_dump(other[other_key], sort_keys=False))
        elif how == 2:
            inside[key] = {rng.choice(list(REGISTRY.kinds)): inside[key]}
        elif how == 3:
            inside[key] = rng.choice(_EXPRESSIONS)
        elif isinstance(inside, dict):
            inside[rng.choice(words())] = inside.pop(key)
        else:
            inside.insert(0, inside[key])
    try:
        return str(
            yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=rng.choice([None, False]))
        )
    except (yaml.YAMLError, RecursionError):
        return text


def _rule_added(rng: random.Random, text: str) -> str:
    return f"{text}\nrules:\n" + "".join(f"  - {rng.choice(_RULES)}\n" for _ in range(rng.randint(1, 3)))


def _deep(rng: random.Random, text: str) -> str:
    levels = rng.choice([20, 90, 120, 5000])
    inner = rng.choice(["llm_turn", "", "x"])
    bomb = rng.choice(
        [
            "[" * levels + inner + "]" * levels,
            "{sequence: [" * levels + inner + "]}" * levels,
            "{inverter: " * levels + inner + "}" * levels,
            "- " * levels + inner,
            "not (" * levels + "turn" + ")" * levels,
        ]
    )
    return f"tree: deep\nroot: {bomb}\n" if rng.random() < 0.5 else _after_colon(rng, text, bomb)


def _aliases(rng: random.Random, text: str) -> str:
    levels, width = rng.choice([(3, 3), (10, 10), (40, 2)])
    lines = ["x0: &x0 llm_turn"]
    lines += [f"x{n}: &x{n} {{sequence: [{', '.join([f'*x{n - 1}'] * width)}]}}" for n in range(1, levels)]
    return "\n".join([*lines, _after_colon(rng, text, f"*x{levels - 1}")])


def _huge(rng: random.Random, text: str) -> str:
    size = rng.choice([1_000, 20_000, 200_000])
    piece = rng.choice(
        ["x", "x ", "'", "\u4e00", "- x\n", "a: 1\n", "turn + ", "# silence a: b\n", "${x}", "not ", "\\"]
    )
    return _after_colon(rng, text, rng.choice(["", "'", '"', "|\n   "]) + piece * (size // len(piece)))


def _after_colon(rng: random.Random, text: str, value: str) -> str:
    places = [match.end() for match in re.finditer(r": |- ", text)]
    at = rng.choice(places) if places else len(text)
    end = text.find("\n", at)
    return text[:at] + value + text[end if end >= 0 else len(text) :]


_COMMON: tuple[Damage, ...] = (
    _line_removed,
    _line_repeated,
    _lines_swapped,
    _line_indented,
    _silenced,
    _character_changed,
    _word_replaced,
    _value_inserted,
    _node_changed,
    _rule_added,
)
_RARE: tuple[Damage, ...] = (_cut_off, _two_files_joined, _odd_breaks, _deep, _aliases, _huge)
DAMAGES: tuple[Damage, ...] = (*_COMMON * 4, *_RARE)


def _plain(_: random.Random, text: str) -> bytes:
    return text.encode(errors="replace")


def _with_wrong_byte(rng: random.Random, text: str) -> bytes:
    data = _plain(rng, text)
    at = rng.randint(0, len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _with_mark(rng: random.Random, text: str) -> bytes:
    return b"\xef\xbb\xbf" + _plain(rng, text)


def _other_encoding(rng: random.Random, text: str) -> bytes:
    return text.encode(rng.choice(["utf-16", "utf-32", "latin-1"]), errors="replace")


ENCODINGS = (*(_plain,) * 12, _with_wrong_byte, _with_mark, _other_encoding)
