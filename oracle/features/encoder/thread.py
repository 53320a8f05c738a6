"""The encoder in a thread of its own: loaded in the background, asked with a deadline, given a rest while it is slow.

Rules:

- The event loop never waits for a computation, and nobody waits longer than `PATIENCE_S`: whoever gets no answer goes
  on with heuristics.
- Until it is loaded, and if it cannot be, every answer is `None` at once.
- A text that took longer than `PATIENCE_S` to read is slow. After `SLOW_IN_A_ROW` of them the encoder rests for
  `REST_S`; then one text is tried, and if that is slow too it rests again. Waiting for other texts is not slowness of
  the encoder: such a text is `late`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, cast

import structlog

from bt_runtime import Clock, SystemClock
from oracle.classify.protocol import EncoderState
from oracle.classify.types import IntentShares, QueryShares
from oracle.features.encoder.loading import (
    CorruptEncoderError,
    LoadedEncoder,
    MissingEncoderError,
    TextKind,
    load,
    load_known,
)
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings
from oracle.tools.errors import ToolError
from oracle.tools.workers import Workers

log = structlog.get_logger(__name__)


PATIENCE_S: Final = 0.1
SLOW_IN_A_ROW: Final = 3
REST_S: Final = 60.0
_MOST_WAITING: Final = 32
_IDLE_S: Final = 3_600.0

EncodedOutcome = Literal["read", "slow", "late", "failed"]
"""`read` in time; `slow` to read; `late`: others were before it; `failed`."""


class EncoderThread:
    """The encoder of a process.

    Args:
        folder: with a model in the form of sentence-transformers.
        clock: monotonic time.
        observe: called for each text that was asked about while the encoder was ready, with what became of it, and the
            seconds that it took to read; 0 if it was not read.
        loader: loads the encoder of a folder; runs in the thread.
        patience_s: how long one text may take.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock | None = None,
        observe: Callable[[TextKind, EncodedOutcome, float], None] = lambda *_: None,
        loader: Callable[[Path], LoadedEncoder] = load,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._folder = folder
        self.clock = clock or SystemClock()
        self._observe = observe
        self._loader = loader
        self._patience_s = patience_s
        self._workers = Workers(max_running=1, max_abandoned=0, max_waiting=_MOST_WAITING, idle_s=_IDLE_S)
        self._loaded: LoadedEncoder | None = None
        self._state: EncoderState = "loading"
        self._slow_in_a_row = 0
        self._rests_until_s = 0.0

    @property
    def state(self) -> EncoderState:
        """Whether it answers, and if not, why."""
        return self._state

    async def load(self) -> None:
        """Load it, in its thread. Does not raise: what is wrong is logged, and `state` says it."""
        started_s = self.clock.now()
        try:
            self._loaded = await self._workers.run(lambda: self._loader(self._folder))
        except MissingEncoderError as error:
            self._state = "missing"
            log.info("encoder.missing", problem=str(error))
        except CorruptEncoderError as error:
            self._state = "corrupt"
            log.error("encoder.corrupt", problem=str(error))  # noqa: TRY400  the message says it all
        except Exception:
            self._state = "failed"
            log.exception("encoder.failed")
        else:
            self._state = "ready"
            log.info("encoder.loaded", seconds=round(self.clock.now() - started_s, 3))

    async def query_shares(self, text: str) -> QueryShares | None:
        """The types of a query; `None` if they are not known in time."""
        return cast("QueryShares | None", await self._shares("query", text))

    async def intent_shares(self, text: str) -> IntentShares | None:
        """The states of the work that a response tells of; `None` if they are not known in time."""
        return cast("IntentShares | None", await self._shares("intent", text))

    async def _shares(self, kind: TextKind, text: str) -> dict[str, float] | None:
        loaded = self._loaded
        if loaded is None or self.clock.now() < self._rests_until_s:
            return None
        reading = _Reading(self, loaded, kind, text)
        try:
            async with asyncio.timeout(self._patience_s):
                return await self._workers.run(reading)
        except TimeoutError:
            if not reading.has_begun:
                self._observe(kind, "late", 0.0)
        except ToolError:  # too many wait
            self._observe(kind, "late", 0.0)
        except Exception:
            log.exception("encoder.text_failed", kind=kind)  # the traceback has no text in it
            self._observe(kind, "failed", 0.0)
        return None

    def note(self, kind: TextKind, seconds: float) -> None:
        """A text has been read, whether or not anybody still waits for it; called in the encoder's thread."""
        is_slow = seconds > self._patience_s
        self._observe(kind, "slow" if is_slow else "read", seconds)
        if not is_slow:
            if self._state == "slow":
                log.info("encoder.recovered", seconds=round(seconds, 3))
            self._slow_in_a_row, self._state = 0, "ready"
            return
        self._slow_in_a_row += 1
        if self._slow_in_a_row >= SLOW_IN_A_ROW:
            self._rests_until_s = self.clock.now() + REST_S
            self._state = "slow"
            log.warning("encoder.slow", seconds=round(seconds, 3), allowed_s=self._patience_s, rests_s=REST_S)


class _Reading:
    """The work of one text in the encoder's thread."""

    def __init__(self, encoder: EncoderThread, loaded: LoadedEncoder, kind: TextKind, text: str) -> None:
        self._encoder = encoder
        self._loaded = loaded
        self._kind = kind
        self._text = text
        self.has_begun = False

    def __call__(self) -> dict[str, float]:
        self.has_begun = True
        clock = self._encoder.clock
        started_s = clock.now()
        shares = self._loaded.shares(self._kind, self._text)
        self._encoder.note(self._kind, clock.now() - started_s)
        return shares


_AFTER_S = 1.5
"""The modules for the first requests are loaded first."""


@asynccontextmanager
async def open_encoder(settings: Settings, fittings: Fittings, *, after_s: float = _AFTER_S) -> AsyncIterator[None]:
    """Give a service its encoder, which answers nothing until it is loaded; a command ends before that, and gets none.

    Args:
        settings: `encoder` and `data_dir` of them.
        fittings: get the encoder; their metrics count what it reads.
        after_s: seconds from the start until it begins to load.
    """
    metrics = fittings.metrics
    if metrics is None:
        yield
        return
    folder = settings["encoder"]
    if isinstance(folder, Path):
        encoder = EncoderThread(folder, observe=metrics.text_encoded)
    else:
        encoder = EncoderThread(settings.data_dir / "encoder", observe=metrics.text_encoded, loader=load_known)
    fittings.encoder = encoder
    metrics.watch_encoder(lambda: encoder.state == "ready")
    loading = asyncio.create_task(_load_later(encoder, after_s), name="load-encoder")
    try:
        yield
    finally:
        loading.cancel()
        await asyncio.wait({loading})


async def _load_later(encoder: EncoderThread, after_s: float) -> None:
    await asyncio.sleep(after_s)
    await encoder.load()
