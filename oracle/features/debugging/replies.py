"""What the answers about debugging look like, for `/openapi.json`."""

from typing import Any, Literal

from pydantic import Field

from bt_runtime import ForcedResult
from oracle.runs.record.debug import ResumeCause
from oracle.runs.storage.breakpoints import BreakpointKind
from oracle.server.api.replies import ReplyBody


class DebugHit(ReplyBody):
    """The breakpoint that has paused a run."""

    breakpoint: str = Field(description="Its id.")
    kind: BreakpointKind
    path: str | None = Field(description="The node that began, or raised.")
    expression: str | None = Field(description="What became true.")
    error: str | None = Field(description="What the node raised, as `Type: message`.")


class DebugBody(ReplyBody):
    """How a run stands for a debugger."""

    run_id: str
    state: Literal["running", "pausing", "paused", "stepping", "ended"] = Field(
        description="`pausing`: after its next tick it will be paused; `stepping`: that tick is under way."
    )
    tick: int = Field(description="The last one before it came to stand so; 0 before the first.")
    since: str | None = Field(description="Since when; ISO 8601, UTC; null where it was never paused.")
    by: str | None = Field(description="The operator who caused it; null where none did.")
    hit: DebugHit | None
    lease_s: float | None = Field(description="Seconds until it goes on without a command; null unless it is paused.")
    resumes_at: str | None = Field(description="When that is; ISO 8601, UTC.")
    values: dict[str, Any] = Field(description="Blackboard values that the next tick gets.")
    results: dict[str, ForcedResult] = Field(description="Forced results that the next tick gets, by node.")
    why: ResumeCause | None = Field(description="Why it went on, where it did last.")


class BreakpointBody(ReplyBody):
    """Where runs are paused."""

    id: str
    kind: BreakpointKind
    tree: str | None
    run_id: str | None
    user_id: str | None
    path: str | None
    expression: str | None
    enabled: bool
    created_by: str
    at: str = Field(description="ISO 8601, UTC.")
    problem: str | None = Field(description="Why no new run can hit it, such as a tree without that node; else null.")


class BreakpointList(ReplyBody):
    """All breakpoints, oldest first."""

    breakpoints: list[BreakpointBody]
