"""The encoder of a service: loaded in the background, and counted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from oracle.features.encoder.loading import load_known
from oracle.features.encoder.thread import EncoderThread
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings

_AFTER_S = 1.5
"""What the first requests need is loaded first."""


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
    if isinstance(settings.encoder, Path):
        encoder = EncoderThread(settings.encoder, observe=metrics.text_encoded)
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
