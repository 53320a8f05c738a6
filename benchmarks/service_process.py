"""The server process of the load test: the service over the paced model, or a bare ASGI app.

`oracle`: the whole service (HTTP, runs, log, tree) as in `oracle serve`, with the paced model instead of the provider,
so that the SDK is not measured. `bare`: the baseline, with the same server, event loop and parser; it sends each piece
as it arrives, stores nothing, and sends recorded bytes from memory.
"""

import argparse
import asyncio
import gc
import re
from pathlib import Path

import uvicorn
import uvloop

from benchmarks.paced import Pace, PacedModel, question
from oracle.core.encoding import to_json
from oracle.llm.protocol import ModelRequest, TextDelta

_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8")]
_TAG = re.compile(rb"\[(\w+)\]")


class BareApp:
    """Streams the model's output directly.

    Args:
        model: the model.
        recorded: the response to every resumed stream.
    """

    def __init__(self, model: PacedModel, *, recorded: bytes) -> None:
        self._model = model
        self._recorded = recorded
        self._events = [event + b"\n\n" for event in recorded.split(b"\n\n") if event]

    async def __call__(self, scope, receive, send) -> None:
        assert scope["type"] == "http"
        message = await receive()
        headers = [*_HEADERS, (b"x-run-id", b"bare")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] == "GET":
            await self._send_recorded(send, each=b"each" in scope["query_string"])
            return
        found = _TAG.search(message["body"])
        assert found is not None
        await self._stream(found[1].decode(), send)

    async def _send_recorded(self, send, *, each: bool) -> None:
        """Send in one write, or event by event as an ordinary streaming response."""
        if each:
            for event in self._events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"" if each else self._recorded})

    async def _stream(self, tag: str, send) -> None:
        number = 0

        async def say(chunk) -> None:
            nonlocal number
            number += 1
            body = b"id: %d\ndata: %b\n\n" % (number, to_json(chunk))
            await send({"type": "http.response.body", "body": body, "more_body": True})

        messages = [{"role": "user", "content": question(tag)}]
        for _ in range(self._model.turns_of(tag)):
            async for event in self._model.stream(ModelRequest("", tuple(messages))):
                if type(event) is TextDelta:
                    await say({"type": "content", "content": event.text})
            messages.append({"role": "assistant", "content": ""})
        await say({"type": "done", "termination_reason": "completed", "run_id": "bare"})
        await send({"type": "http.response.body", "body": b""})


async def serve_bare(model: PacedModel, *, recorded: bytes) -> None:
    app = BareApp(model, recorded=recorded)
    config = uvicorn.Config(
        app, port=0, loop="uvloop", http="httptools", log_level="warning", lifespan="off", access_log=False
    )
    server = uvicorn.Server(config)
    gc.freeze()
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(f"The bare app is listening on http://127.0.0.1:{port}", flush=True)
    await serving


async def serve_oracle(model: PacedModel, *, data_dir: Path, project_dir: Path) -> None:
    from oracle.core.logs import configure_logging
    from oracle.server.process.process import serve
    from oracle.server.settings.reading import read_settings

    configure_logging("info")  # as `oracle serve` does
    settings = read_settings(data_dir=data_dir, project_dir=project_dir)
    await serve(settings, host="127.0.0.1", port=0, announce=lambda line: print(line, flush=True), model=model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["oracle", "bare"])
    parser.add_argument("--data-dir", type=Path, default=Path(".oracle"))
    parser.add_argument("--project", type=Path, default=Path())
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--pieces", type=int, default=50)
    parser.add_argument("--turn-s", type=float, default=2.0)
    parser.add_argument("--recorded", type=Path, help="what the bare app sends for a run that is read again")
    given = parser.parse_args()
    model = PacedModel(Pace(given.turns, given.pieces, given.turn_s))
    if given.kind == "oracle":
        uvloop.run(serve_oracle(model, data_dir=given.data_dir, project_dir=given.project))
    else:
        recorded = given.recorded.read_bytes() if given.recorded else b""
        uvloop.run(serve_bare(model, recorded=recorded))


if __name__ == "__main__":
    main()
