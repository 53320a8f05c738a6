"""No-progress detection: whether the agent, after its last tool call, repeats itself.

Rules, all about the end of the list:

- **Same action**: the last three are the same, and they had the same result or all failed.
- **Cycle**: the last two or three actions occur three times in a row, each with the same result every time; or all of
  them failed.
- **Same error**: one tool failed three times with the same result, with any arguments. Not if all three are known to be
  of one turn: the model had seen none of the results when it made the calls.

An action is a tool and the JSON value of its arguments. Two values are the same as RFC 8785 has it: the order of keys,
white space and escapes do not matter, the order of lists does; `1` and `1.0` are one number, `1`, `"1"` and `true` are
three values. The result is the digest together with whether it was an error. A call whose result is unknown counts as
unchanged where the call is the same, and as different where it is not. A record without a tool is never the same as
another.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from bt_runtime.text.data import dataclass

TIMES = 3
"""How many repetitions in a row count as no progress."""
LONGEST_PERIOD = 3
WINDOW = TIMES * LONGEST_PERIOD
"""The number of latest actions that the rules examine."""
MAX_SIGNATURE_CHARS = 500
_MAX_EXACT_INTEGER = 2**53
_SIGNATURE = re.compile(r"(?P<tool>[^(\s]+)\((?P<arguments>.*)\)", re.DOTALL)
_MAYBE_FLOAT = re.compile(r"\d(?:\.\d|[eE])")


@dataclass(frozen=True, slots=True)
class ToolAction:
    """One finished tool call.

    Args:
        tool: its name; empty if unknown.
        arguments: canonical JSON text, as `canonical_arguments` makes it.
        result_digest: identifies the result; compared for equality only. `None` if unknown.
        turn: in which it was made; `None` if unknown.
    """

    tool: str
    arguments: str
    is_error: bool = False
    result_digest: str | None = None
    turn: int | None = field(default=None, compare=False)

    @classmethod
    def from_call(
        cls, tool: str, arguments: object, *, is_error: bool = False, result_digest: str | None = None
    ) -> "ToolAction":
        """Make an action of a call as it was sent: `arguments` is an object or its JSON text."""
        return cls(tool, canonical_arguments(arguments), is_error, result_digest)

    def in_turn(self, turn: int) -> "ToolAction":
        """The same action as one of this turn."""
        return ToolAction(self.tool, self.arguments, self.is_error, self.result_digest, turn)

    @property
    def signature(self) -> str:
        """The call as users see it: `search_code({"query": "auth"})`."""
        return action_signature(self.tool, self.arguments)


@dataclass(frozen=True, slots=True)
class Repetition:
    """How an agent repeats itself.

    Args:
        kind: `same_action`, `cycle` or `same_error`: the rule that found the repetition.
        period: how many actions make one round: 1, or 2 or 3 for a cycle.
        times: how many rounds the examined actions end with; at least 3, unless fewer were asked for.
        cycle: the actions of the last round, oldest first.
    """

    kind: Literal["same_action", "cycle", "same_error"]
    period: int
    times: int
    action: ToolAction
    cycle: tuple[ToolAction, ...]

    @property
    def summary(self) -> str:
        """The end of the sentence "No progress detected - …", without a full stop."""
        if self.kind == "same_action":
            return f"same action attempted {self.times} times"
        if self.kind == "cycle":
            return f"same {self.period} actions repeated {self.times} times"
        return f"{self.action.tool} failed {self.times} times with the same error"


def detect_no_progress(actions: "Sequence[ToolAction | Mapping[str, Any] | str]") -> bool:
    """Whether the latest actions, oldest first, are the same over and over.

    Args:
        actions: `ToolAction`s, or mappings `{tool, arguments, is_error, result_digest}` where `arguments` is an object
            or its JSON text. Fields may be missing. Text is a signature, `tool({...})`. Only the last nine count.

    Raises:
        TypeError: one has another type.
    """
    return find_repetition(actions) is not None


def find_repetition(
    actions: "Sequence[ToolAction | Mapping[str, Any] | str]", *, times: int = TIMES
) -> Repetition | None:
    """How the latest actions repeat themselves; `None` if they do not.

    Args:
        actions: oldest first, in any form that `detect_no_progress` takes.
        times: what counts; fewer than `TIMES` is no lack of progress yet.
    """
    if len(actions) < times:
        return None
    latest = [each if type(each) is ToolAction else as_action(each) for each in actions[-WINDOW:]]
    last = latest[-1]
    if not last.tool or not (last.is_error or any(_is_same(each, last) for each in latest[-1 - LONGEST_PERIOD : -1])):
        return None
    return _same_action(latest, times) or _cycle(latest, times) or _same_error(latest, times)


def as_action(action: "ToolAction | Mapping[str, Any] | str") -> ToolAction:
    """An action as it is, or made of a mapping; what is missing or of another type is taken as unknown.

    Text is a signature, as skills may keep actions: a call whose result is unknown.

    Raises:
        TypeError: it has another type.
    """
    if isinstance(action, ToolAction):
        return action
    if isinstance(action, str):
        call = _SIGNATURE.fullmatch(action)
        return ToolAction.from_call(call["tool"], call["arguments"]) if call else ToolAction(action, "{}")
    if not isinstance(action, Mapping):
        raise TypeError(f"an action must be an Action or a mapping {{tool, arguments, …}}, not {action!r}")
    tool, digest, turn = action.get("tool"), action.get("result_digest"), action.get("turn")
    return ToolAction(
        tool=tool if isinstance(tool, str) else "",
        arguments=canonical_arguments(action.get("arguments")),
        is_error=action.get("is_error") is True,
        result_digest=None if digest is None else str(digest),
        turn=turn if isinstance(turn, int) else None,
    )


def _same_action(actions: Sequence[ToolAction], least: int) -> Repetition | None:
    last = actions[-1]
    run = _tail(actions, lambda action: _is_same(action, last))
    times = _unchanged(run)
    return Repetition("same_action", 1, times, last, (last,)) if times >= least else None


def _cycle(actions: Sequence[ToolAction], least: int) -> Repetition | None:
    for period in range(2, LONGEST_PERIOD + 1):
        rounds = len(actions) // period
        if rounds < least:
            return None
        if not _is_same(actions[-1], actions[-1 - period]):
            continue
        times = next((count for count in range(rounds, least - 1, -1) if _turns(actions[-count * period :], period)), 0)
        if times:
            return Repetition("cycle", period, times, actions[-1], tuple(actions[-period:]))
    return None


def _turns(actions: Sequence[ToolAction], period: int) -> bool:
    """Whether the actions are one round again and again, with the same results or nothing but failures."""
    first = actions[:period]
    for at, action in enumerate(actions):
        if not _is_same(action, first[at % period]):
            return False
    # A failure whose text changes, between calls that work, may well be what those calls have moved (edit, test,
    # edit, test).
    return all(action.is_error for action in actions) or all(
        _result(action) == _result(first[at % period]) for at, action in enumerate(actions)
    )


def _same_error(actions: Sequence[ToolAction], least: int) -> Repetition | None:
    last = actions[-1]
    if not last.is_error or last.result_digest is None:
        return None
    run = _tail(actions, lambda action: action.tool == last.tool and _result(action) == _result(last))
    one_look = last.turn is not None and all(action.turn == last.turn for action in run)
    return Repetition("same_error", 1, len(run), last, (last,)) if len(run) >= least and not one_look else None


def _tail(actions: Sequence[ToolAction], belongs: Callable[[ToolAction], bool]) -> Sequence[ToolAction]:
    start = len(actions)
    while start and belongs(actions[start - 1]):
        start -= 1
    return actions[start:]


def _unchanged(run: Sequence[ToolAction]) -> int:
    """How many actions at the end had the same result, or failed if the last one did."""
    last = run[-1]
    same = len(_tail(run, lambda action: _result(action) == _result(last)))
    failed = len(_tail(run, lambda action: action.is_error))
    return max(same, failed)


def _is_same(one: ToolAction, other: ToolAction) -> bool:
    return bool(one.tool) and one.tool == other.tool and one.arguments == other.arguments


def _result(action: ToolAction) -> tuple[bool, str | None]:
    return action.is_error, action.result_digest


def action_signature(tool: str, arguments: object, *, max_chars: int = MAX_SIGNATURE_CHARS) -> str:
    """A call as users see it: `search_code({"query": "auth"})`.

    Args:
        tool: the tool's name.
        arguments: an object or its JSON text.
        max_chars: longer arguments are cut, with an ellipsis: they may hold a whole note.

    Returns:
        One line without lone surrogates, so that it can be encoded anywhere.
    """
    canonical = canonical_arguments(arguments)
    try:
        shown = json.dumps(json.loads(canonical), ensure_ascii=False)
    except (ValueError, RecursionError):
        shown = " ".join(canonical.split())
    if len(shown) > max_chars:
        shown = f"{shown[:max_chars]}…"
    return _encodable(f"{tool}({shown})")


def canonical_arguments(arguments: object) -> str:
    """The canonical text of a JSON value.

    Keys are sorted, insignificant white space is removed, escapes are resolved, whole floats become integers.

    Args:
        arguments: an object, or JSON text. `None`, empty text and `null` are the empty object. Text that is not JSON
            stands for itself, less the white space around it. Another value is taken as a JSON value.

    Returns:
        The text; equal texts mean equal values, but for a value that contains itself or nests beyond Python's recursion
        limit: that one is represented by its type. Canonical text is returned unchanged.
    """
    if isinstance(arguments, str):
        return _canonical_text(arguments)
    if arguments is None:
        return "{}"
    try:
        text = _dumped(arguments)
    except (TypeError, ValueError, RecursionError):
        try:
            text = _dumped(_with_text_keys(arguments))
        except (ValueError, RecursionError):
            return f"<{type(arguments).__name__}>"
    return _canonical_text(text) if _MAYBE_FLOAT.search(text) else _encodable(text)


def _canonical_text(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "{}"
    try:
        value = json.loads(stripped, parse_float=_number)
        return "{}" if value is None else _encodable(_dumped(value))
    except (ValueError, RecursionError):
        return _encodable(stripped)


def _encodable(text: str) -> str:
    """The text with lone surrogates as JSON escapes, so that it can be stored and sent."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _number(text: str) -> int | float:
    """A JSON number with a fraction or an exponent; an integer where it is whole and exact."""
    value = float(text)
    if math.isfinite(value) and value.is_integer() and abs(value) <= _MAX_EXACT_INTEGER:
        return int(value)
    return value


def _plain(value: object) -> object:
    """What `json` does not know: mappings as objects, other collections as lists, the rest by type and text."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return list(value)
    return f"{type(value).__name__} {value!s}"


_dumped = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain).encode


def _with_text_keys(value: object) -> object:
    """The value with every key as text: keys of mixed types cannot be sorted."""
    if isinstance(value, Mapping):
        return {str(key): _with_text_keys(inner) for key, inner in value.items()}
    return [_with_text_keys(inner) for inner in value] if isinstance(value, list | tuple) else value
