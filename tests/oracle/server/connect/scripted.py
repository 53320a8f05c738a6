"""The shared table of all adapters: conversations as the chunks of their recorded runs.

Every adapter plays the same rows through its translator (`played`) and reads the frames back as its clients do. The
rows are made of chunk objects, and go through `write_chunk` and `read_chunk` as those of a log do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from oracle.core.chunks import (
    Answer,
    Answered,
    ApprovalRequested,
    Chunk,
    Closing,
    Content,
    Done,
    Failed,
    Interrupt,
    InterruptStatus,
    QuestionAsked,
    Source,
    SourceFound,
    SystemNotice,
    TerminationReason,
    Thinking,
    ToolCall,
    ToolCalled,
    ToolReturned,
    read_chunk,
    write_chunk,
)
from oracle.runs.storage.records import RunRecord
from oracle.server.connect.base.streaming import Translator

RUN_ID, CONTEXT_ID, MODEL, QUESTION = "0f3a9c", "7be210", "claude-scripted", "Where does login begin?"
AT = "2026-01-02T03:04:05.000Z"
CREATED_AT = 1_767_323_045.0


@dataclass(frozen=True, slots=True)
class Scripted:
    """A recorded run.

    Args:
        name: of the row.
        chunks: the log's, from number 1 on.
        parked_at: after so many chunks the run waited for people alone.
    """

    name: str
    chunks: tuple[Chunk, ...]
    parked_at: tuple[int, ...] = ()

    @property
    def is_parked(self) -> bool:
        """It still waits."""
        return not isinstance(self.chunks[-1], Done)

    @property
    def answer(self) -> Answer:
        """What the chunks add up to."""
        answer = Answer()
        for chunk in self.chunks:
            answer.add(chunk)
        return answer

    @property
    def run(self) -> RunRecord:
        """The run's row as it was begun."""
        return RunRecord(
            id=RUN_ID,
            user_id="alice",
            context_id=CONTEXT_ID,
            worker="worker-1",
            epoch=1,
            tree="oracle",
            tree_sha=None,
            input={"question": QUESTION, "metadata": {"topic": "login"}},
            limits={},
            status="running",
            created_at=CREATED_AT,
            deadline_at=CREATED_AT + 120,
        )


def done(reason: TerminationReason = "completed", *, turns: int = 1, tokens: int = 812) -> Done:
    return Done(
        termination_reason=reason,
        tokens_used=tokens,
        tokens_estimated=False,
        model_used=MODEL,
        context_id=CONTEXT_ID,
        run_id=RUN_ID,
        turns=turns,
    )


def called(number: int, name: str, /, **arguments: object) -> ToolCalled:
    return ToolCalled(ToolCall(f"call-{number}", name, arguments))


def returned(number: int, text: str, *, is_error: bool = False) -> ToolReturned:
    return ToolReturned(f"call-{number}", text, is_error, 12)


def approval(number: int, *, name: str = "write_note", status: str = "pending", **arguments: object) -> Interrupt:
    return Interrupt(
        id=f"{RUN_ID}-{number}",
        reason="tool_call",
        message=f"May {name} be called?",
        may=("approve", "refuse", "edit"),
        response_schema={"type": "object"},
        on_expiry="refuse",
        status=status,  # type: ignore[arg-type]
        tool_call_id=f"call-{number}",
        tool_name=name,
        arguments=arguments,
        arguments_digest="d1",
        expires_at="2026-01-02T04:04:05.000Z",
        **({} if status == "pending" else {"answered_by": "alice", "answered_at": AT}),
    )


def client_call(number: int, name: str, /, *, status: InterruptStatus = "pending", **arguments: object) -> Interrupt:
    """The wait for a tool that the client runs."""
    return Interrupt(
        id=f"{RUN_ID}-{number}",
        reason="input_required",
        message=f"The client is to run {name}.",
        may=("answer",),
        response_schema={"type": "object"},
        on_expiry="fail",
        status=status,
        tool_call_id=f"call-{number}",
        tool_name=name,
        arguments=arguments,
    )


def question(number: int, *, status: InterruptStatus = "pending") -> Interrupt:
    return Interrupt(
        id=f"{RUN_ID}-{number}",
        reason="input_required",
        message="Which of the two services?",
        may=("answer",),
        response_schema={"type": "string"},
        on_expiry="default",
        status=status,
    )


LOGIN = Source("src/login.py", "code", 14, "def login(user):", 0.9)
PAGE = Source("https://example.org/login", "web", None, "How to log in", 0.5)
NOTE = Source("Login.md", "vault", 3)
WARNING = SystemNotice("limit_warning", "80 % of the tokens are used.", "warning", metadata={"used": 0.8}, timestamp=AT)
REACHED = SystemNotice("limit_reached", "The token budget is used up.", "warning", timestamp=AT)
LOOKED = (
    called(1, "search_code", query="login"),
    SourceFound(LOGIN),
    returned(1, "src/login.py:14: def login(user):"),
)
APPROVAL = (
    Content("I write that down. "),
    called(1, "write_note", title="Login", text="It begins in login.py."),
    ApprovalRequested(approval(1, title="Login", text="It begins in login.py.")),
)
CLIENT_TOOL = (
    Content("Let me look at the page. "),
    called(1, "read_page", selector="#login"),
    QuestionAsked(client_call(1, "read_page", selector="#login")),
)

SCRIPTED: tuple[Scripted, ...] = (
    Scripted(
        "text", (Content("It begins in "), Content("login.py, "), Content("«größtenteils» 🙂.\n\ndata: x"), done())
    ),
    Scripted("nothing", (done(),)),
    Scripted("reasoning", (Thinking("They ask "), Thinking("about login."), Content("In login.py."), done())),
    Scripted(
        "reasoning_twice",
        (Thinking("First."), Content("It "), Thinking("Second."), Content("begins."), done()),
    ),
    Scripted(
        "tools",
        (
            Thinking("I look."),
            Content("Let me look. "),
            *LOOKED,
            called(2, "read_file", path="src/gone.py"),
            called(3, "read_note", name="Login"),
            returned(3, "It begins in login.py."),
            returned(2, "There is no src/gone.py.", is_error=True),
            Content("It begins in login.py."),
            done(turns=2),
        ),
    ),
    Scripted("sources", (SourceFound(LOGIN), SourceFound(PAGE), SourceFound(NOTE), Content("There."), done())),
    Scripted("notice", (Content("It "), WARNING, Content("begins."), done())),
    Scripted(
        "limit",
        (
            Content("It begins "),
            REACHED,
            Closing("I stop: the budget is used up.", "token_budget"),
            done("token_budget"),
        ),
    ),
    Scripted("time", (Content("It begins "), Closing("I stop: the time is up.", "timeout"), done("timeout"))),
    Scripted("approval", APPROVAL, parked_at=(3,)),
    Scripted(
        "approved",
        (
            *APPROVAL,
            Answered(approval(1, status="approved", title="Login", text="It begins in login.py.")),
            returned(1, "Written."),
            Content("It is written down."),
            done(turns=2),
        ),
        parked_at=(3,),
    ),
    Scripted(
        "refused",
        (
            *APPROVAL,
            Answered(approval(1, status="refused", title="Login", text="It begins in login.py."), comment="Not now."),
            returned(1, "Not run: a person refused this call.", is_error=True),
            Content("Then not."),
            done(turns=2),
        ),
        parked_at=(3,),
    ),
    Scripted(
        "two_approvals",
        (
            called(1, "write_note", title="A"),
            called(2, "write_note", title="B"),
            ApprovalRequested(approval(1, title="A")),
            ApprovalRequested(approval(2, title="B")),
            Answered(approval(1, status="approved", title="A")),
            returned(1, "Written."),
            Answered(approval(2, status="expired", title="B")),
            returned(2, "Not run: nobody answered in time.", is_error=True),
            Content("One of two."),
            done(turns=2),
        ),
        parked_at=(4, 6),
    ),
    Scripted("client_tool", CLIENT_TOOL, parked_at=(3,)),
    Scripted(
        "client_tool_answered",
        (
            *CLIENT_TOOL,
            Answered(
                client_call(1, "read_page", status="answered", selector="#login"),
                answer={"output": "A form.", "is_error": False},
            ),
            returned(1, "A form."),
            Content("There is a form."),
            done(turns=2),
        ),
        parked_at=(3,),
    ),
    Scripted(
        "question",
        (
            Content("Two are called login. "),
            QuestionAsked(question(1)),
            Answered(question(1, status="answered"), answer="the second"),
            Content("Then it is that one."),
            done(turns=2),
        ),
        parked_at=(2,),
    ),
    Scripted(
        "error",
        (
            Content("It begins "),
            Failed("The model could not be reached.", "provider_failed"),
            Closing("I stop: the model could not be reached.", "error"),
            done("error"),
        ),
    ),
    Scripted("error_at_once", (Failed("The question could not be taken.", "interrupted"), done("error"))),
    Scripted(
        "cancel",
        (
            Content("It begins "),
            called(1, "search_code", query="login"),
            returned(1, "Cancelled.", is_error=True),
            Closing("Stopped.", "user_cancelled"),
            done("user_cancelled"),
        ),
    ),
    Scripted(
        "whole",
        (
            Thinking("They ask about login."),
            Content("Let me look. "),
            *LOOKED,
            SourceFound(PAGE),
            WARNING,
            Content("It begins in login.py. "),
            called(2, "write_note", title="Login", text="login.py"),
            ApprovalRequested(approval(2, title="Login", text="login.py")),
            Answered(approval(2, status="approved", title="Login", text="login.py")),
            returned(2, "Written."),
            Thinking("Done."),
            Content("It is written down."),
            done(turns=3, tokens=2_345),
        ),
        parked_at=(10,),
    ),
)
"""The rows; those whose last chunk is no `done` still wait for a person."""


def played(translator: Translator, row: Scripted, *, chunks: Sequence[Chunk] | None = None) -> list[bytes]:
    """The frames of an undisturbed reading of a row; it ends where a row is still parked.

    A row that was parked and went on is read as one who was there again at once reads it: in one stream, without the
    frames of `parked`.
    """
    frames = list(translator.opening())
    for n, chunk in enumerate(row.chunks if chunks is None else chunks, start=1):
        frames += translator.frames(n, read_chunk(write_chunk(chunk)))
    if row.is_parked:
        frames += translator.parked()
    return frames


def segments(row: Scripted) -> list[tuple[Chunk, ...]]:
    """The chunks of a row, cut where it was parked."""
    marks = [0, *row.parked_at, len(row.chunks)]
    return [row.chunks[begin:end] for begin, end in pairwise(marks) if begin < end]
