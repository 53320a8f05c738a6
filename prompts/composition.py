"""Composes the system prompt, a pure function of the query's situation.

The rules, all of them here or in the segments' own front matter:

1. `base`, `signals` and `tools-reference` always.
2. The segment of the query type, and that of the second type if there is one.
3. `summarization` if the history is large.
4. `error-recovery` if the previous query met tool errors.
5. At most `max_tokens`: above that, segments are dropped, the least important first, never the three of rule 1.
6. In a small context window, at most 2,850 tokens in the same way, without what is only for roomy ones.

Also: `environment` if its facts are given, and examples of signals if the query type needs them.

Nothing here reads a file, a clock or the environment. The order is fixed (priority, then id), and what differs between
query types comes last, so the prompts of different queries begin with the same text and a provider's cache can hold it.
"""

from collections.abc import Sequence
from functools import cached_property

from bt_runtime.text import estimate_tokens
from bt_runtime.text.data import dataclass

from .environment import Environment, render_environment
from .errors import PromptError, suggest
from .library import own_segments
from .segment import (
    ENVIRONMENT_ID,
    MAX_PROMPT_TOKENS,
    REQUIRED_IDS,
    SHORT_PROMPT_TOKENS,
    TOOLS_ID,
    Inclusion,
    Segment,
    SegmentLibrary,
    Situation,
    is_small_window,
)
from .tool_reference import ToolEntry, render_tools_reference

_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class SegmentUse:
    """Whether one segment was included, and why.

    Args:
        id: the segment.
        included: whether it is in the prompt.
        reason: why, or why not.
        tokens: its size as rendered, included or not; estimated.
    """

    id: str
    included: bool
    reason: str
    tokens: int


@dataclass(frozen=True)
class ComposedPrompt:
    """A system prompt, with what was included and dropped.

    Args:
        text: the prompt.
        tokens: its size, estimated as `ceil(characters / 4)`.
        segments: every segment of the library in the order of the prompt, with whether and why it was included.
        dropped: the ids of segments that were selected but exceeded the bound, least important first; callers should
            log them.
    """

    text: str
    tokens: int
    segments: tuple[SegmentUse, ...]
    dropped: tuple[str, ...] = ()

    @cached_property
    def included(self) -> tuple[str, ...]:
        """The ids of the segments in the prompt, in their order."""
        return tuple(use.id for use in self.segments if use.included)

    def __str__(self) -> str:
        """The prompt itself."""
        return self.text


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A segment as rendered for this query, with the verdict on it."""

    segment: Segment
    text: str
    wanted: bool
    reason: str


def compose(  # noqa: PLR0913  by name, a fact each
    *,
    query_type: str,
    second_query_type: str | None = None,
    tools: Sequence[ToolEntry] = (),
    history_tokens: int = 0,
    previous_errors: bool = False,
    environment: Environment | None = None,
    context_tokens: int | None = None,
    segments: SegmentLibrary | None = None,
    max_tokens: int = MAX_PROMPT_TOKENS,
) -> ComposedPrompt:
    """Compose the system prompt of one query.

    Args:
        query_type: one of the library's types; `QUERY_TYPES` by default.
        second_query_type: another type whose rules the query needs; `None` if there is none.
        tools: the tools offered for this query, in the order to list them in.
        history_tokens: size of the conversation that is sent along.
        previous_errors: the previous query of this conversation met tool errors.
        environment: the facts of the installation; `None` leaves that segment out.
        context_tokens: the model's context window; `None`: it is not known, and counts as roomy.
        segments: what to compose from; `None` means the package's own segments.
        max_tokens: bound on the whole prompt.

    Raises:
        PromptError: a query type is unknown, a number is out of range, or a tool is given twice.
        PromptError: the three required segments alone exceed `max_tokens`.
    """
    is_roomy = not is_small_window(context_tokens)
    situation = Situation(query_type, second_query_type, history_tokens, previous_errors, is_roomy)
    library = own_segments() if segments is None else segments
    _check_inputs(library.query_types, query_type, second_query_type, history_tokens, max_tokens)
    candidates = _candidates(library, situation, tools, environment)
    bound = max_tokens if is_roomy else min(max_tokens, SHORT_PROMPT_TOKENS)
    kept, dropped = _fit([each for each in candidates if each.wanted], bound, max_tokens)
    text = _SEPARATOR.join(each.text for each in kept)
    tokens = estimate_tokens(len(text))
    uses = tuple(_use(each, dropped, bound) for each in candidates)
    return ComposedPrompt(text, tokens, uses, tuple(each.segment.id for each in dropped))


def _check_inputs(
    known: Sequence[str], query_type: str, second_query_type: str | None, history_tokens: int, max_tokens: int
) -> None:
    for name, value in (("query_type", query_type), ("second_query_type", second_query_type)):
        if value not in known and not (value is None and name == "second_query_type"):
            raise PromptError(f"{name} {value!r} is unknown; {suggest(str(value), known)}")
    for name, number, least in (("history_tokens", history_tokens, 0), ("max_tokens", max_tokens, 1)):
        if number < least:
            raise PromptError(f"{name} must be at least {least}, not {number!r}")


def _candidates(
    library: SegmentLibrary, situation: Situation, tools: Sequence[ToolEntry], environment: Environment | None
) -> list[_Candidate]:
    """All segments, rendered, in the order of the prompt; at equal priority the first query type's comes first."""

    def place(segment: Segment) -> tuple[int, bool, str]:
        return segment.priority, segment.is_second_choice(situation), segment.id

    candidates = []
    for segment in sorted(library, key=place):
        verdict, text = segment.judge(situation), segment.text_in(situation)
        if segment.id == TOOLS_ID:
            text = render_tools_reference(text, tools, without_tools=segment.without_tools)
        elif segment.id == ENVIRONMENT_ID and environment is None:
            verdict = Inclusion(included=False, reason="no environment is given")
        elif segment.id == ENVIRONMENT_ID and environment is not None:
            text = render_environment(text, environment)
        candidates.append(_Candidate(segment, text, verdict.included, verdict.reason))
    return candidates


def _fit(wanted: list[_Candidate], bound: int, max_tokens: int) -> tuple[list[_Candidate], list[_Candidate]]:
    """Drop segments from the end until the rest keeps to `bound`, or cannot be dropped.

    Returns:
        What is kept, in order, and what was dropped, in the order of dropping.

    Raises:
        PromptError: those that may not be dropped exceed `max_tokens`.
    """
    kept, dropped = list(wanted), []
    while (size := _size(kept)) > bound:
        victim = next((each for each in reversed(kept) if not each.segment.required), None)
        if victim is None:
            break
        kept.remove(victim)
        dropped.append(victim)
    if size > max_tokens:
        raise PromptError(_describe_excess(kept, max_tokens))
    return kept, dropped


def _size(candidates: list[_Candidate]) -> int:
    return estimate_tokens(len(_SEPARATOR.join(each.text for each in candidates)))


def _describe_excess(required: list[_Candidate], max_tokens: int) -> str:
    sizes = ", ".join(f"{each.segment.id} {estimate_tokens(len(each.text)):,}" for each in required)
    return (
        f"the required segments need {_size(required):,} tokens, over the limit of {max_tokens:,} ({sizes}); "
        f"shorten {', '.join(REQUIRED_IDS[:-1])} or {REQUIRED_IDS[-1]}, or offer fewer tools"
    )


def _use(candidate: _Candidate, dropped: list[_Candidate], max_tokens: int) -> SegmentUse:
    was_dropped = candidate in dropped
    reason = f"dropped to keep within {max_tokens:,} tokens ({candidate.reason})" if was_dropped else candidate.reason
    included = candidate.wanted and not was_dropped
    return SegmentUse(candidate.segment.id, included, reason, estimate_tokens(len(candidate.text)))
