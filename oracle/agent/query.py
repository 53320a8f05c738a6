"""A query: what the user asked, checked, and the limits that hold for it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from bt_runtime.text.data import dataclass
from oracle.classify.types import QueryClassification, QueryShares
from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.decision import AgentConfig
from oracle.llm.protocol import Message

LONGEST_QUESTION = 20_000
"""Characters (the HTTP contract)."""
AS_JSON = (
    "Answer the following question with JSON alone, by this JSON Schema: no text around it or beside tool calls, and "
    "no signal, which is the one exception to the rule that every reply ends with one. Tools may be called before.\n\n"
)
"""In front of the schema of an answer, for the model."""
_LOC = ("body", "question")


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    Args:
        question: 1-20 000 characters, without NUL and lone surrogates.
        model: the provider's model; `None` means the configured one.
        history: earlier messages as the provider gets them: alternating, none empty.
        omitted_messages: how many earlier messages did not fit into `history`.
        is_history_shortened: texts of the newest exchange in `history` have lost their middle.
        history_ends: for each question of `history`, as `ModelHistory.ends`.
        history_tokens: of the history that the query began with; like the next ones, known to replays too.
        history_room: the tokens that it could have had; 0: unknown.
        is_history_partial: earlier messages were left out of it, or a summary stands for them.
        previous: how the previous query of the conversation was classified, for bare follow-ups.
        previous_errors: the previous query met tool errors.
        encoded: how the encoder reads the question; `None` if it did not answer.
        grants: names of the tools that a person has allowed for the conversation.
        read_before: names of the tools that its earlier queries have called, and of what came with questions.
        attachments: the files beside the question, each a block (`oracle.llm.protocol`).
        output_schema: JSON schema of the answer, which is JSON alone then; `None`: it is free text.
        headers: of the user's request, for tools that hand them on; `None`: they are not known (`oracle.tools.keys`).
    """

    run_id: str
    question: str
    user_id: str
    context_id: str
    config: AgentConfig
    tree: str = "oracle"
    project_id: str | None = None
    model: str | None = None
    history: tuple[Message, ...] = ()
    omitted_messages: int = 0
    is_history_shortened: bool = False
    history_ends: tuple[int, ...] = ()
    history_tokens: int = 0
    history_room: int = 0
    is_history_partial: bool = False
    previous: QueryClassification | None = field(default=None)
    previous_errors: bool = False
    encoded: QueryShares | None = None
    grants: tuple[str, ...] = ()
    read_before: tuple[str, ...] = ()
    attachments: tuple[Mapping[str, Any], ...] = ()
    output_schema: Mapping[str, Any] | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def beside(self) -> tuple[Mapping[str, Any], ...]:
        """The blocks in front of the question: the files, and the schema of the answer."""
        if self.output_schema is None:
            return self.attachments
        return (*self.attachments, {"type": "text", "text": AS_JSON + to_json(self.output_schema).decode()})


def checked_question(text: str) -> str:
    """The question as it may be asked.

    Raises:
        UserError: it is empty, too long, or not text.
    """
    if "\0" in text:
        raise UserError("the question contains NUL characters: it looks like binary data, not text", loc=_LOC)
    clean = text.encode("utf-8", errors="replace").decode("utf-8")
    if not clean.strip():
        raise UserError("the question is empty: ask something, in 1 to 20,000 characters", loc=_LOC)
    if len(clean) > LONGEST_QUESTION:
        raise UserError(f"the question has {len(clean):,} characters; at most {LONGEST_QUESTION:,} are read", loc=_LOC)
    return clean
