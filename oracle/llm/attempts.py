"""When a failed request to a provider is repeated.

- An overloaded or rate-limiting provider is retried until the query's deadline: a late answer is worth more than an
  early error. For the same reason a `retry-after` of minutes is honoured if it ends before the deadline.
- Any other transient failure is retried a few times.
- If another model can take over (`ModelRequest.retries`), nothing is repeated.
- With `RetryPolicy.waits_for_load` off, a refusal because of load is not retried, so that others can use the provider.
- Without a deadline (`ModelRequest.time_left_s` is `None`) every failure is retried only a few times.
"""

import math
from collections.abc import Mapping
from dataclasses import field, replace

import structlog

from bt_runtime import Clock, SystemClock
from bt_runtime.text.data import dataclass
from oracle.core.errors import UpstreamError
from oracle.core.retry import Retry, pause
from oracle.llm.faults import ProviderError
from oracle.llm.protocol import ModelFault, OnLoad

log = structlog.get_logger(__name__)

LEAST_FOR_ANSWER_S = 1.0
"""A wait that leaves less than this before the deadline is not started: no answer would fit after it."""
MAX_RETRY_AFTER_S = 20.0
"""Without a deadline, the longest `retry-after` that is honoured."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How requests are repeated.

    Args:
        max_retries: after the first attempt, unless the deadline is the bound; 0 turns all retries off.
        backoff: the waits, if the provider does not ask for one.
        clock: for the waits and the deadline.
        waits_for_load: whether a request that was refused because of load or a rate limit is repeated.
    """

    max_retries: int = 2
    backoff: Retry = field(default_factory=lambda: Retry(first_s=0.5, longest_s=8.0))
    clock: Clock = field(default_factory=SystemClock)
    waits_for_load: bool = True


class AttemptFailedError(UpstreamError):
    """One attempt at a request failed.

    Args:
        fault: is raised if this was the last attempt.
        error: the provider's error; `None` if it did not answer.
        is_retryable: whether the same request may succeed later.
    """

    def __init__(self, fault: ModelFault, *, error: ProviderError | None = None, is_retryable: bool = False) -> None:
        super().__init__(fault.cause)
        self.fault = fault
        self.error = error
        self.is_retryable = is_retryable


class Attempts:
    """The attempts of one turn.

    Args:
        policy: the waits between attempts, and the most attempts.
        time_left_s: of the query, at the start of the turn; `None` if there is no deadline.
        retries: whether there is more than one; if not, the tree asks another model after a failure.
    """

    def __init__(self, policy: RetryPolicy, time_left_s: float | None, *, retries: bool = True) -> None:
        self.failed = 0
        """Consecutive failed attempts."""
        self._policy = policy if retries else replace(policy, max_retries=0)
        self._is_reported = retries
        self._deadline_s = None if time_left_s is None else policy.clock.now() + time_left_s

    def wait_after(self, failed: AttemptFailedError, *, has_answer: bool, on_load: OnLoad) -> float | None:
        """Log a failed attempt; returns the wait before the next one, or `None` if there is none.

        Args:
            failed: the failure.
            has_answer: an answer had begun, so that nothing is repeated.
            on_load: called if the provider has refused the request because of load or a rate limit.
        """
        if failed.error is not None and failed.error.is_load:
            on_load(failed.error.retry_after_s)
        is_over = not failed.is_retryable or has_answer
        wait_s = None if is_over else self.next_wait_s(failed.error)
        # The caller reports the last failure of a run, but not one after which another model answers.
        write = log.info if wait_s is None and self._is_reported else log.warning
        write(
            "provider.failed",
            problem=failed.fault.cause,
            detail=failed.fault.detail,  # with the provider's `request_id`; the log line's own is the service's
            attempt=self.failed,
            retry_in_s=wait_s,
        )
        return wait_s

    def next_wait_s(self, error: ProviderError | None) -> float | None:
        """Count a failed attempt; returns the wait before the next one, or `None` if there is none.

        Args:
            error: the provider's error; `None` if it did not answer.
        """
        policy, retries = self._policy, self.failed
        self.failed += 1
        if error is not None and error.is_load and not policy.waits_for_load:
            return None
        is_bounded_by_time = self._deadline_s is not None and error is not None and error.is_load
        if retries >= policy.max_retries and not (is_bounded_by_time and policy.max_retries):
            return None
        requested_s = error.retry_after_s if error is not None else None
        wait_s = policy.backoff.wait_s(self.failed) if requested_s is None else requested_s
        if self._deadline_s is not None:
            return wait_s if policy.clock.now() + wait_s + LEAST_FOR_ANSWER_S <= self._deadline_s else None
        return wait_s if requested_s is None or requested_s <= MAX_RETRY_AFTER_S else None

    async def wait(self, seconds: float) -> None:
        """Wait before the next attempt."""
        await pause(seconds, clock=self._policy.clock)

    def succeed(self) -> None:
        """Reset the count: a message was received whole."""
        self.failed = 0


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the provider asks for; a date, which it does not send, is ignored."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if seconds >= 0 and math.isfinite(seconds):
            return seconds
    return None
