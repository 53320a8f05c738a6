"""Ask the service and print the answer as it comes: `python examples/client.py "How does the login work?"`."""
# ruff: noqa: INP001, T201  a script that prints

import os
import sys

from oracle_client import ask_sync

question, url = sys.argv[1], (sys.argv[2:] or ["http://127.0.0.1:8000"])[0]
for event in ask_sync(url, question, token=os.environ.get("ORACLE_TOKEN")):
    print(event.text, end="", flush=True)
print()
