"""The encoder of a service, if the operator wants one; it is loaded in the background, after the start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from oracle.encoder import NO_ENCODER, EncodedText, Encoder, EncoderThread, load_known
from oracle.metrics import Metrics
from oracle.settings import Settings

_AFTER_S = 1.5
"""What the first requests need is loaded first."""


@asynccontextmanager
async def open_encoder(settings: Settings, *, metrics: Metrics, after_s: float = _AFTER_S) -> AsyncIterator[Encoder]:
    """The encoder, which answers nothing until it is loaded.

    Args:
        settings: the operator's.
        metrics: count what it reads.
        after_s: seconds from the start until it begins to load.
    """
    if settings.encoder == "off":
        yield NO_ENCODER
        return

    def observe(text: EncodedText) -> None:
        metrics.text_encoded(text.kind, text.outcome, seconds=text.seconds)

    if isinstance(settings.encoder, Path):
        encoder = EncoderThread(settings.encoder, observe=observe)
    else:
        encoder = EncoderThread(settings.data_dir / "encoder", observe=observe, loader=load_known)
    metrics.watch_encoder(lambda: encoder.state == "ready")
    loading = asyncio.create_task(_load(encoder, after_s), name="load-encoder")
    try:
        yield encoder
    finally:
        loading.cancel()
        await asyncio.wait({loading})


async def _load(encoder: EncoderThread, after_s: float) -> None:
    await asyncio.sleep(after_s)
    await encoder.load()
