"""A segment: one idea of the system prompt, and the condition under which it is included.

Rules:

- A condition depends on a `Situation` and nothing else: the same situation always gives the same prompt.
- The three required segments are unconditional and are never dropped.
- A smaller priority number is more important: it comes earlier in the prompt and is dropped later.
"""

from collections.abc import Iterator
from typing import Final

from bt_runtime.text.data import dataclass

from .errors import PromptError

QUERY_TYPES: Final = ("code", "documentation", "research", "conversational", "action")
"""The types of queries of the package's own segments, each with one; a domain can have others."""

REQUIRED_IDS: Final = ("base", "signals", "tools-reference")
"""The segments that every prompt has."""

TOOLS_ID: Final = "tools-reference"
"""The segment that lists the offered tools."""

ENVIRONMENT_ID: Final = "environment"
"""The segment with the facts of the installation; left out if none are given."""

MAX_PROMPT_TOKENS: Final = 8_000
"""The bound on a composed prompt before tool definitions."""

ROOMY_TOKENS: Final = 16_000
"""A context window is small below this, and roomy from it on."""

SHORT_PROMPT_TOKENS: Final = 2_850
"""What a prompt for a small window keeps to, as far as its required segments do; what a provider's adapter adds to
explain marked notes keeps it below 3,000."""


def is_small_window(context_tokens: int | None) -> bool:
    """Whether a context window gets the short prompt; one that is not known (`None`) does not."""
    return context_tokens is not None and context_tokens < ROOMY_TOKENS


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that conditions can test.

    Args:
        query_type: the likeliest type.
        second_query_type: another type whose rules the query needs; `None` if there is none.
        history_tokens: size of the conversation so far.
        previous_errors: the previous query met tool errors.
        is_roomy: the model's context window is not small.
    """

    query_type: str
    second_query_type: str | None = None
    history_tokens: int = 0
    previous_errors: bool = False
    is_roomy: bool = True


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether a segment is included, and the reason for a log or a debugger."""

    included: bool
    reason: str


@dataclass(frozen=True, slots=True)
class SegmentCondition:
    """When a segment is included; all tests that are given must hold.

    Args:
        query_types: one of these is the query's type, or its second type; empty: any type.
        history_tokens_over: the history is larger than this many tokens; `None`: any size.
        previous_errors: whether the previous query met tool errors; `None`: either.
        roomy: whether the model's context window is roomy; `None`: either.
        is_named: never by itself, only in a turn of a tree that names it.
    """

    query_types: tuple[str, ...] = ()
    history_tokens_over: int | None = None
    previous_errors: bool | None = None
    roomy: bool | None = None
    is_named: bool = False

    def judge(self, situation: Situation) -> Inclusion:
        """Decide for one situation; the reason names the tests that failed, or all of them if none did."""
        checks = tuple(self._checks(situation))
        failed = tuple(check.reason for check in checks if not check.included)
        return Inclusion(included=not failed, reason="; ".join(failed or (check.reason for check in checks)))

    def _checks(self, situation: Situation) -> Iterator[Inclusion]:
        if self.is_named:
            yield Inclusion(included=False, reason="only where a tree names it")
        if self.query_types:
            yield self._check_query_type(situation)
        if self.history_tokens_over is not None:
            over = situation.history_tokens > self.history_tokens_over
            relation = "over" if over else "not over"
            yield Inclusion(
                over, f"history of {situation.history_tokens:,} tokens is {relation} {self.history_tokens_over:,}"
            )
        if self.previous_errors is not None:
            met = "met tool errors" if situation.previous_errors else "met no tool errors"
            yield Inclusion(situation.previous_errors is self.previous_errors, f"the previous question {met}")
        if self.roomy is not None:
            size = "roomy" if situation.is_roomy else "small"
            yield Inclusion(situation.is_roomy is self.roomy, f"the model's context window is {size}")

    def _check_query_type(self, situation: Situation) -> Inclusion:
        if situation.query_type in self.query_types:
            return Inclusion(included=True, reason=f"query type is {situation.query_type!r}")
        if situation.second_query_type in self.query_types:
            return Inclusion(included=True, reason=f"second query type is {situation.second_query_type!r}")
        wanted = " or ".join(repr(name) for name in self.query_types)
        return Inclusion(included=False, reason=f"query type is {situation.query_type!r}, not {wanted}")


@dataclass(frozen=True, slots=True)
class Segment:
    """One prompt file, read and checked.

    Args:
        id: its name in reports; unique in a library.
        description: its content in one sentence, for authors.
        priority: position in the prompt, and the reverse order of dropping; 0 is most important.
        when: the condition; `None` means always.
        text: the body; that of `tools-reference` contains the placeholder for the tools.
        without_tools: the line that replaces `tools-reference` when no tool is offered.
        roomy_from: the line of the body from which on it is left out where the context window is small; empty: none.
        source: the file that it was read from.
    """

    id: str
    description: str
    priority: int
    when: SegmentCondition | None
    text: str
    without_tools: str = ""
    roomy_from: str = ""
    source: str = ""

    @property
    def required(self) -> bool:
        """Whether every prompt has it."""
        return self.id in REQUIRED_IDS

    def judge(self, situation: Situation) -> Inclusion:
        """Whether it is part of the prompt for this situation, and why."""
        return Inclusion(included=True, reason="always") if self.when is None else self.when.judge(situation)

    def text_in(self, situation: Situation) -> str:
        """The body, as far as the context window has room for it."""
        whole = situation.is_roomy or not self.roomy_from
        return self.text if whole else self.text.partition(f"\n{self.roomy_from}\n")[0].strip()

    def is_second_choice(self, situation: Situation) -> bool:
        """Whether it is included only because of the second query type."""
        return (
            self.when is not None and bool(self.when.query_types) and situation.query_type not in self.when.query_types
        )


@dataclass(frozen=True, slots=True)
class SegmentLibrary:
    """All segments that prompts are composed from, in the order of priority, then id.

    Args:
        segments: each id once, the required ones among them.
        query_types: those of the domain, for which prompts can be composed.

    Raises:
        PromptError: a required segment is missing or conditional, or an id occurs twice. `load_segments` reports
            the same with files and lines.
    """

    segments: tuple[Segment, ...]
    query_types: tuple[str, ...] = QUERY_TYPES

    def __post_init__(self) -> None:
        ids = [segment.id for segment in self.segments]
        if len(set(ids)) < len(ids):
            raise PromptError(f"segment ids must be unique, not {sorted(ids)!r}")
        lacking = [each for each in REQUIRED_IDS if not any(s.id == each and s.when is None for s in self.segments)]
        if lacking:
            raise PromptError(f"required segments are missing or conditional: {', '.join(lacking)}")
        object.__setattr__(self, "segments", tuple(sorted(self.segments, key=lambda each: (each.priority, each.id))))

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids in the order of the prompt."""
        return tuple(segment.id for segment in self.segments)

    def get(self, segment_id: str) -> Segment | None:
        """The segment of that id, or `None`."""
        return next((segment for segment in self.segments if segment.id == segment_id), None)
