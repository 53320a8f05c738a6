"""Ask a question under a tree that asks people, show in the terminal what it asks, and send what you decide.

    python examples/approvals.py TREE "Write the limit to a note." [http://127.0.0.1:8000]   (a token: in ORACLE_TOKEN)

Needs only Python 3.11, and `client.py` beside it. Ctrl-C leaves the query: it waits, and can be answered in the console
or by `oracle pending`. Exit codes: 0 answered; 1 the query failed or could not be sent; 2 invalid arguments; 130
Ctrl-C.
"""
# ruff: noqa: INP001, S310, T201  a script that prints, and opens the address that it is given

import json
import os
import sys
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from client import NOT_FOR_TERMINALS, events, explain

WORDS = {"approve": "yes", "refuse": "no WHY", "edit": "edit {JSON}", "answer": "your answer"}


def main(tree: str, question: str, url: str = "http://127.0.0.1:8000") -> int:
    """Print the answer; decide what is asked on the way."""
    headers = {"Content-Type": "application/json"}
    if token := os.environ.get("ORACLE_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps({"question": question, "tree": tree}).encode()
    with urlopen(Request(f"{url}/api/oracle/runs", body, headers), timeout=30) as response:
        run = f"{url}/api/oracle/runs/{json.load(response)['run_id']}"
    reason = ""
    for chunk in chunks(run, headers):
        match chunk:
            case {"type": "content", "content": text}:
                print(plain(text), end="", flush=True)
            case {"type": "approval_requested" | "question", "interrupt": interrupt}:
                decide(run, headers, interrupt)
            case {"type": "answered", "interrupt": {"status": status, **rest}}:
                print(plain(f"[{status} by {rest.get('answered_by', 'nobody')}]"))
            case {"type": "done", "termination_reason": reason}:
                print(f"\n[{reason}]")
    return 1 if reason == "error" else 0


def chunks(run: str, headers: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a run, each once, in order, until `done`; lost connections are made again."""
    last_id = "0"
    while True:
        request = Request(f"{run}/stream", headers=headers | {"Last-Event-ID": last_id})
        try:
            with urlopen(request, timeout=30) as response:  # heartbeats come every 10 s, also while it waits
                for last_id, chunk in events(response):  # noqa: B007  used to resume the stream
                    yield chunk
                    if chunk["type"] == "done":
                        return
        except (OSError, HTTPException) as error:  # the service may be restarting; the run goes on after that
            if isinstance(error, HTTPError) and error.code < 500:
                raise
        time.sleep(0.5)


def decide(run: str, headers: dict[str, str], interrupt: dict[str, Any]) -> None:
    """Ask until there is a decision that the service takes, or another person has decided."""
    call = f"\n  {interrupt['tool_name']} {json.dumps(interrupt['arguments'])}" if "tool_name" in interrupt else ""
    until = f"\n  until {interrupt['expires_at']}, then: {interrupt['on_expiry']}" if "expires_at" in interrupt else ""
    listed = interrupt["response_schema"].get("enum") if "answer" in interrupt["may"] else None
    options = f"\n  one of {listed}" if listed else ""
    print(plain(f"\n? {interrupt['message']}{call}{until}{options}"))
    while True:
        decision = read(input(f"{' | '.join(WORDS[each] for each in interrupt['may'])}: ").strip(), interrupt)
        if decision is None:
            continue
        body = json.dumps({"id": interrupt["id"]} | decision).encode()
        try:
            urlopen(Request(f"{run}/deliveries", body, headers), timeout=30).close()
        except HTTPError as error:
            print(plain(error.read(2000).decode(errors="replace")), file=sys.stderr)
            if error.code == 422:  # what was typed does not fit
                continue
        return


def read(said: str, interrupt: dict[str, Any]) -> dict[str, Any] | None:
    """The decision that was typed; None if it is none of those that are possible."""
    word, _, rest = said.partition(" ")
    may, is_text = interrupt["may"], interrupt["response_schema"].get("type", "string") == "string"
    try:
        if word == "yes" and "approve" in may:
            return {"decision": "approve"}
        if word == "no" and "refuse" in may:
            return {"decision": "refuse"} | ({"comment": rest} if rest else {})
        if word == "edit" and "edit" in may:
            return {"decision": "edit", "arguments": json.loads(rest)}
        if said and "answer" in may:
            return {"decision": "answer", "answer": said if is_text else json.loads(said)}
    except ValueError as error:
        print(f"this is not JSON: {error}")
    return None


def plain(text: str) -> str:
    """A text that no terminal obeys."""
    return text.translate(NOT_FOR_TERMINALS)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        sys.exit(0)
    if len(sys.argv) not in {3, 4}:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
    except (OSError, HTTPException, ValueError) as failure:
        sys.exit(explain(failure))
