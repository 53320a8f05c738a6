"""Ask the service a question and print the answer as it arrives; a lost connection costs no text and no second run.

    python examples/client.py "How does the login work?" [http://127.0.0.1:8000]      (a token: in ORACLE_TOKEN)

Needs only Python 3.11. Exit codes: 0 answered; 1 the query failed or could not be sent; 2 invalid arguments; 130
Ctrl-C, which cancels the query.
"""
# ruff: noqa: INP001, S310, T201  a script that prints, and opens the address that it is given

import json
import os
import sys
import time
import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

PATIENCE_S = 60  # how long to retry without receiving anything
NOT_FOR_TERMINALS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)))


def chunks(url: str, question: str, *, token: str | None = None) -> Generator[dict[str, Any], None, None]:
    """Yield the chunks of the answer: each once, in order, until `done`. Closing the generator early cancels the query.

    Raises:
        HTTPError: the service refused the question.
        OSError, HTTPException: the service cannot be reached, or was unreachable for longer than `PATIENCE_S`.
    """
    # With the key a POST whose response was lost can be repeated: it is one query, answered and paid for once.
    headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    run, last_id, is_done, until = "", "0", False, time.monotonic() + PATIENCE_S
    try:
        while True:
            request = Request(f"{url}/api/oracle/stream", json.dumps({"question": question}).encode(), headers)
            if run:
                request = Request(f"{url}{run}/stream", headers=headers | {"Last-Event-ID": last_id})
            try:
                with urlopen(request, timeout=30) as response:  # heartbeats come every 10 s
                    run = response.headers.get("Location", run)
                    for last_id, chunk in events(response):  # noqa: B007  used to resume the stream
                        until, is_done = time.monotonic() + PATIENCE_S, chunk["type"] == "done"
                        yield chunk
                        if is_done:
                            return
            except (OSError, HTTPException) as error:  # the connection was lost, or the service is unavailable
                # A URLError is raised before the service has the question; an HTTPError is a URLError too.
                is_final = isinstance(error, HTTPError) and error.code < 500 if run else isinstance(error, URLError)
                if is_final or time.monotonic() > until:
                    raise
            time.sleep(0.5)
    finally:
        if run and not is_done:
            with suppress(OSError):
                urlopen(Request(f"{url}{run}/cancel", headers=headers, method="POST"), timeout=5).close()


def events(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the object of each complete event of a stream."""
    event_id = ""
    for line in lines:
        if line.startswith(b"id: "):
            event_id = line[4:].strip().decode()
        elif line.startswith(b"data: ") and line.endswith(b"\n"):
            yield event_id, json.loads(line[6:])


def main(question: str, url: str = "http://127.0.0.1:8000") -> int:
    """Print the answer; notifications and errors go to standard error."""
    reason = ""
    with closing(chunks(url.rstrip("/"), question, token=os.environ.get("ORACLE_TOKEN"))) as answer:
        for chunk in answer:
            match chunk:
                case {"type": "content", "content": text}:
                    print(text.translate(NOT_FOR_TERMINALS), end="", flush=True)
                case {"type": "system", "system_message": text} | {"type": "error", "error": text}:
                    print(f"\n[{text.translate(NOT_FOR_TERMINALS)}]", file=sys.stderr)
                case {"type": "done", "termination_reason": reason}:
                    print(f"\n[{reason}]")
    return 1 if reason == "error" else 0


def explain(error: Exception) -> str:
    """Say what went wrong, and what to do."""
    if not isinstance(error, HTTPError):
        return f"error: the service cannot be reached: {error} (is it running? `make run` starts it)"
    hint = " (the token goes into ORACLE_TOKEN)" if error.code == 401 else ""
    return f"error: {error.code} {error.reason}: {error.read(1000).decode(errors='replace')}{hint}"


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit(0)
    if len(sys.argv) not in {2, 3}:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, HTTPException, ValueError) as failure:
        sys.exit(explain(failure))
