"""The six signals that the model may send, as strict and frozen pydantic models.

An optional field that is missing or invalid is `None`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

SignalType = Literal[
    "need_turn", "context_sufficient", "stuck", "need_capability", "partial_answer", "delegation_recommended"
]
Words = Annotated[str, StringConstraints(min_length=1)]


class SignalBase(BaseModel):
    """The fields of every signal.

    Args:
        confidence: the model's confidence, 0.0-1.0.
        raw_xml: the block as the model wrote it; characters that no database accepts (NUL, lone surrogates) are U+FFFD.
        timestamp: when the block was complete; aware.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    confidence: float = Field(ge=0.0, le=1.0)
    raw_xml: str
    timestamp: AwareDatetime


class NeedTurn(SignalBase):
    """The model wants another turn."""

    type: Literal["need_turn"] = "need_turn"
    reason: Words
    expected_turns: Annotated[int, Field(ge=1)] | None = None


class ContextSufficient(SignalBase):
    """The model has found what it needs."""

    type: Literal["context_sufficient"] = "context_sufficient"
    sources_found: int = Field(ge=0)
    source_types: list[Words] | None = None


class Stuck(SignalBase):
    """The model cannot get further."""

    type: Literal["stuck"] = "stuck"
    attempted: list[Words]
    blocker: Words
    suggestions: list[Words] | None = None


class NeedCapability(SignalBase):
    """The model lacks a tool or a permission."""

    type: Literal["need_capability"] = "need_capability"
    capability: Words
    reason: Words
    workaround: Words | None = None


class PartialAnswer(SignalBase):
    """The answer is incomplete."""

    type: Literal["partial_answer"] = "partial_answer"
    missing: Words
    caveat: Words | None = None


class DelegationRecommended(SignalBase):
    """The task should be delegated to another agent."""

    type: Literal["delegation_recommended"] = "delegation_recommended"
    reason: Words
    scope: Words
    estimated_tokens: int | None = None
    subagent_type: Words | None = None


Signal = NeedTurn | ContextSufficient | Stuck | NeedCapability | PartialAnswer | DelegationRecommended
"""Any signal; `isinstance(x, Signal)` works."""

SIGNAL_MODELS: Mapping[str, type[Signal]] = {
    "need_turn": NeedTurn,
    "context_sufficient": ContextSufficient,
    "stuck": Stuck,
    "need_capability": NeedCapability,
    "partial_answer": PartialAnswer,
    "delegation_recommended": DelegationRecommended,
}
"""The model of each type, in the order of the specification."""
