"""Reads a recorded stream with a client that openapi-python-client has generated; run in that client's environment.

Arguments: the folder that has the package, and the file with one chunk a line. Standard output: what each was read as.
"""

import importlib
import json
import sys
from pathlib import Path

folder, chunks = Path(sys.argv[1]), Path(sys.argv[2])
sys.path.insert(0, str(folder.parent))
models = importlib.import_module(f"{folder.name}.models")
for name in ("stream_query", "answer_query"):
    importlib.import_module(f"{folder.name}.api.queries.{name}")
for name in ("list_conversations", "read_conversation", "rename_conversation"):
    importlib.import_module(f"{folder.name}.api.conversations.{name}")

KINDS = {
    "thinking": models.ThinkingChunk,
    "content": models.ContentChunk,
    "source": models.SourceChunk,
    "tool_call": models.ToolCallChunk,
    "tool_result": models.ToolResultChunk,
    "system": models.SystemChunk,
    "error": models.ErrorChunk,
    "done": models.DoneChunk,
}
for line in chunks.read_text(encoding="utf-8").splitlines():
    wire = json.loads(line)
    typed = KINDS[wire["type"]].from_dict(wire)
    sys.stdout.write(json.dumps([type(typed).__name__, typed.to_dict()]) + "\n")
