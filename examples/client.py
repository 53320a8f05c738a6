"""Asks the service a question and prints the answer as it comes; a connection lost on the way costs no word.

python examples/client.py "How does the login work?" [http://127.0.0.1:8000]      (a token: in ORACLE_TOKEN)
"""
# ruff: noqa: INP001, S310, T201  a script that prints what comes from an address it was given

import json
import os
import sys
import time
from collections.abc import Iterator
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

HEADERS = {"Authorization": f"Bearer {os.environ.get('ORACLE_TOKEN', 'none')}", "Content-Type": "application/json"}


def chunks(url: str, question: str) -> Iterator[dict]:
    """The chunks of the answer: each once, in order, until `done`."""
    request = Request(f"{url}/api/oracle/stream", json.dumps({"question": question}).encode(), HEADERS)
    run, last_id = "", 0
    while True:
        try:
            with urlopen(request, timeout=30) as response:  # while nothing happens a heartbeat comes every 10 s
                run = response.headers.get("Location", run)
                for line in response:
                    if line.startswith(b"data: ") and line.endswith(b"\n"):
                        chunk, last_id = json.loads(line[6:]), last_id + 1  # the ids are 1, 2, 3, …
                        yield chunk
                        if chunk["type"] == "done":
                            return
        except (OSError, HTTPException) as error:  # the connection is gone, or the service for now
            if not run or (isinstance(error, HTTPError) and error.code < 500):
                raise
        time.sleep(0.5)
        request = Request(f"{url}{run}/stream", headers=HEADERS | {"Last-Event-ID": str(last_id)})


if __name__ == "__main__":
    for each in chunks((sys.argv[2:] or ["http://127.0.0.1:8000"])[0], sys.argv[1]):
        print(each["content"] if each["type"] == "content" else "", end="", flush=True)
    print(f"\n[{each['termination_reason']}]")
