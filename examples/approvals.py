"""Ask a question under a tree that asks people, show in the terminal what it asks, and send what you decide.

    python examples/approvals.py TREE "Write the limit to a note." [http://127.0.0.1:8000]   (a token: in ORACLE_TOKEN)

Ctrl-C leaves the run: it waits, and you can answer in the console or with `oracle pending`. The exit code is 1 if the
run failed.
"""
# ruff: noqa: INP001, T201  a script that prints

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from oracle_client import Conversation, OracleError, Run

WORDS = {"approve": "yes", "refuse": "no WHY", "edit": "edit {JSON}", "answer": "your answer"}
NOT_FOR_TERMINALS = dict.fromkeys({*range(32), *range(0x7F, 0xA0)} - {ord("\t"), ord("\n")})


async def main(tree: str, question: str, url: str = "http://127.0.0.1:8000") -> int:
    """Print the answer; decide what is asked on the way."""
    async with Conversation(url, token=os.environ.get("ORACLE_TOKEN")) as chat:
        run = await chat.ask(question, tree=tree)
        async for event in run:
            print(plain(event.text), end="", flush=True)
            if event.type in {"approval_requested", "question"}:
                await decide(run, event.interrupt)
            elif event.type == "answered":
                print(plain(f"[{event.interrupt['status']} by {event.interrupt.get('answered_by', 'nobody')}]"))
    reason = run.done["termination_reason"] if run.done else "unknown"
    print(f"\n[{reason}]")
    return 1 if reason == "error" else 0


async def decide(run: Run, interrupt: Mapping[str, Any]) -> None:
    """Ask until there is a decision that the service takes, or another person has decided."""
    call = f"\n  {interrupt['tool_name']} {json.dumps(interrupt['arguments'])}" if "tool_name" in interrupt else ""
    until = f"\n  until {interrupt['expires_at']}, then: {interrupt['on_expiry']}" if "expires_at" in interrupt else ""
    listed = interrupt["response_schema"].get("enum") if "answer" in interrupt["may"] else None
    options = f"\n  one of {listed}" if listed else ""
    print(plain(f"\n? {interrupt['message']}{call}{until}{options}"))
    prompt = f"{' | '.join(WORDS[each] for each in interrupt['may'])}: "
    while True:
        said = await asyncio.to_thread(input, prompt)
        if (decision := read(said.strip(), interrupt)) is None:
            continue
        try:
            await run.answer(interrupt, **decision)
        except OracleError as error:
            print(plain(str(error)), file=sys.stderr)
            if error.status == 422:  # what was typed does not fit
                continue
        return


def read(said: str, interrupt: Mapping[str, Any]) -> dict[str, Any] | None:
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
    """Remove control characters, which a terminal would obey."""
    return text.translate(NOT_FOR_TERMINALS)


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        sys.exit(__doc__)
    try:
        sys.exit(asyncio.run(main(*sys.argv[1:])))
    except (KeyboardInterrupt, EOFError):
        sys.exit(130)
