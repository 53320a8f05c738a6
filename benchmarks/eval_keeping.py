"""Whether a model follows the prompt, by type of query; measured on its raw text, turn by turn."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from signals import ParsedResponse, parse

_STOPPED = re.compile(r"^\W*Stopped:", re.MULTILINE)
_ASKS = re.compile(r"\?[\s*_)\"'”]*\Z")

Row = tuple[str, str, str]
Kept = tuple[str, frozenset[str] | None, frozenset[str], Sequence["Turn"]]
"""A query: its type, the groups of tools that it needs (`None`: not evaluated), those called, and its turns."""


@dataclass(frozen=True)
class Turn:
    """One turn of the model.

    Args:
        text: the whole response, signal included.
        calls: the number of tool calls.
        prompt_tokens: the estimated size of the system prompt.
    """

    text: str
    calls: int
    prompt_tokens: int

    @property
    def parsed(self) -> ParsedResponse:
        return parse(self.text)

    @property
    def ends_with_its_signal(self) -> bool:
        """Whether the text ends with one well-formed signal, outside of a fence."""
        parsed = self.parsed
        ends = self.text.rstrip().lower().endswith(("</signal>", "/>"))
        return ends and parsed.signal is not None and len(parsed.readings) == 1

    @property
    def asks_the_user(self) -> bool:
        return _ASKS.search(self.parsed.text.rstrip()) is not None

    @property
    def signal_type(self) -> str:
        signal = self.parsed.signal
        return signal.type if signal is not None else ""

    @property
    def says_stopped(self) -> bool:
        """Whether it contains a sentence that only the control writes."""
        return _STOPPED.search(self.parsed.text) is not None


def keeping(queries: Iterable[Kept]) -> list[Row]:
    """The figures with their aims: all queries first, then by type."""
    known = list(queries)
    types = sorted({query_type for query_type, _, _, _ in known})
    rows: list[Row] = []
    for name, aim, measure in _MEASURES:
        figures = [measure(known)]
        figures += [f"{each}: {measure([query for query in known if query[0] == each])}" for each in types]
        rows.append((f"prompt: {name}", "; ".join(figures), aim))
    return rows


def _answers(queries: Sequence[Kept]) -> list[Turn]:
    """The responses without tool calls, which need a signal."""
    return [turn for _, _, _, turns in queries for turn in turns if not turn.calls]


def _signal_at_the_end(queries: Sequence[Kept]) -> str:
    answers = _answers(queries)
    return _share(sum(turn.ends_with_its_signal for turn in answers), len(answers))


def _partial_after_a_question(queries: Sequence[Kept]) -> str:
    asking = [turn for turn in _answers(queries) if turn.asks_the_user]
    return _share(sum(turn.signal_type == "partial_answer" for turn in asking), len(asking))


def _stopped(queries: Sequence[Kept]) -> str:
    return str(sum(turn.says_stopped for _, _, _, turns in queries for turn in turns))


def _tools_where_needed(queries: Sequence[Kept]) -> str:
    needing = [bool(needed & called) for _, needed, called, _ in queries if needed]
    return _share(sum(needing), len(needing))


def _no_tools_where_not(queries: Sequence[Kept]) -> str:
    without = [not called for _, needed, called, _ in queries if needed == frozenset()]
    return _share(sum(without), len(without))


def _prompt_tokens(queries: Sequence[Kept]) -> str:
    sizes = [turns[0].prompt_tokens for _, _, _, turns in queries if turns]
    return f"{sum(sizes) / len(sizes):,.0f}" if sizes else "-"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}" if whole else "-"


_MEASURES: tuple[tuple[str, str, Callable[[Sequence[Kept]], str]], ...] = (
    ("answers that end with one signal", "95 %", _signal_at_the_end),
    ("questions to the user: partial_answer", "all", _partial_after_a_question),
    ("`Stopped:` written by the model", "0", _stopped),
    ("tools called where needed", "all", _tools_where_needed),
    ("none called where not", "all", _no_tools_where_not),
    ("tokens of the prompt", "8,000 at most", _prompt_tokens),
)
