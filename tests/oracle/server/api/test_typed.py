"""`/openapi.json` has every type that a client needs; the models behind it accept what the service sends."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from oracle.core.chunks import Chunk, ErrorType, SystemType, TerminationReason, read_chunk
from oracle.server.api.replies import (
    ConversationBody,
    ConversationList,
    RunList,
    Tick,
    WholeAnswer,
)
from oracle.server.api.tree_replies import (
    TreeBody,
    TreeConflict,
    TreeEditList,
    TreeList,
)
from oracle.testing import ScriptedCall, ScriptedTurn
from signals import SignalRecord
from tests.oracle.server.api.conftest import in_shared_loop

WIRE = Path(__file__).with_name("wire.txt")
OPERATIONS = {
    "read_own_spending",
    "read_spending",
    "set_spending",
    "clear_spending",
    "upload_attachment",
    "download_attachment",
    "delete_attachment",
    "answer_run",
    "begin_run",
    "list_grants",
    "list_pending",
    "revoke_grant",
    "rate_run",
    "explain_tree",
    "answer_query", "cancel_run", "change_settings", "check_liveness", "check_readiness", "check_tree", "compare_runs",
    "compare_trees",
    "complete_tree", "count_answers", "export_run", "find_definition", "fork_conversation", "hover_tree",
    "forget_conversation", "list_conversations", "list_runs", "list_trees", "list_versions", "read_conversation",
    "read_history", "read_me", "read_metrics", "read_run", "read_run_tree", "read_settings", "read_signals",
    "read_ticks", "read_source", "read_tree", "read_turns", "read_version", "rename_conversation", "reset_settings",
    "restore_version", "resume_run", "save_tree", "stream_query", "try_scenarios", "verify_tree", "watch_ticks",
    "change_breakpoint", "debug_run", "list_breakpoints", "read_debug", "remove_breakpoint", "set_breakpoint",
    "read_shadow_report", "list_shadow_pairs", "read_usage", "list_tool_servers",
}  # fmt: skip
TURN = ScriptedTurn(
    text='On. <signal type="need_turn"><reason>r</reason></signal>',
    tool_calls=(ScriptedCall("list_files", {}), ScriptedCall("nope", {})),
)


async def document(service) -> dict[str, Any]:
    return (await service.client.get("/openapi.json")).json()


def test_every_chunk_of_a_recorded_stream_is_read_back() -> None:
    chunks = re.findall(r"^data: (.*)$", WIRE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [read_chunk(chunk).to_wire() for chunk in chunks] == [json.loads(chunk) for chunk in chunks]


@pytest.mark.parametrize("text", ["{}", '{"type":"new"}', '{"type":"content"}', '{"type":"content","content":5}', "["])
def test_other_json_is_refused_as_a_chunk(text: str) -> None:
    with pytest.raises(ValueError, match=r"1 validation error|unexpected end of data"):
        read_chunk(text)


@in_shared_loop
async def test_the_streams_are_described_by_the_union_of_all_chunks(shared):
    described = await document(shared)
    for method, path in (("post", "/api/oracle/stream"), ("get", "/api/oracle/runs/{run_id}/stream")):
        content = described["paths"][path][method]["responses"]["200"]["content"]
        assert content.keys() == {"text/event-stream"}
        data = content["text/event-stream"]["x-itemSchema"]["properties"]["data"]
        assert data["contentSchema"] == {"$ref": "#/components/schemas/Chunk"}
    union = described["components"]["schemas"]["Chunk"]
    assert union["discriminator"]["propertyName"] == "type"
    assert union["discriminator"]["mapping"].keys() == {kind.type for kind in get_args(Chunk)}
    assert len(union["oneOf"]) == len(get_args(Chunk))


@in_shared_loop
async def test_the_document_lists_all_values_of_enumerations(shared):
    schemas = (await document(shared))["components"]["schemas"]
    assert schemas["ErrorChunk"]["properties"]["error_type"]["enum"] == list(get_args(ErrorType))
    assert schemas["SystemChunk"]["properties"]["system_type"]["enum"] == list(get_args(SystemType))
    assert schemas["DoneChunk"]["properties"]["termination_reason"]["enum"] == list(get_args(TerminationReason))
    for name in ("RunBody", "WholeAnswer"):
        (typed, _) = schemas[name]["properties"]["error_type"]["anyOf"]
        assert typed["enum"] == list(get_args(ErrorType))


@in_shared_loop
async def test_every_reference_resolves(shared):
    described = await document(shared)
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert references <= described["components"]["schemas"].keys()


@in_shared_loop
async def test_operations_have_readable_names(shared):
    described = await document(shared)
    names = [call["operationId"] for calls in described["paths"].values() for call in calls.values()]
    assert len(names) == len(set(names))
    assert set(names) == OPERATIONS


@in_shared_loop
async def test_the_described_422_is_the_one_that_is_sent(shared):
    described = await document(shared)
    for path, calls in described["paths"].items():
        for method, call in calls.items():
            schema = call["responses"]["422"]["content"]["application/json"]["schema"]
            model = "TreeRefusal" if TreeConflict.__name__ in str(call["responses"].get("409")) else "InvalidRequest"
            assert schema == {"$ref": f"#/components/schemas/{model}"}, (method, path)
    assert "HTTPValidationError" not in described["components"]["schemas"]


async def test_responses_match_their_models(start):
    """No documented field is missing, and there is no other."""
    service = await start([TURN])
    streamed = await service.ask("Which files does the code have?", limits={"max_iterations": 3})
    whole = (await service.client.post("/api/oracle", json={"question": "hello"})).json()
    assert WholeAnswer.model_validate(whole).model_dump(exclude_unset=True) == whole
    for path, model in (
        (f"/api/oracle/conversations/{streamed.done['context_id']}", ConversationBody),
        ("/api/oracle/conversations", ConversationList),
        ("/api/runs", RunList),
        ("/api/trees", TreeList),
        ("/api/trees/oracle", TreeBody),
        ("/api/trees/oracle/versions", TreeEditList),
    ):
        answer = (await service.client.get(path)).json()
        assert model.model_validate(answer).model_dump(mode="json", exclude_unset=True) == answer, path
    ticks = (await service.client.get(f"/api/runs/{streamed.run_id}/ticks", params={"limit": 1000})).json()["ticks"]
    assert len(ticks) > 5
    assert any(tick["outcomes"] for tick in ticks)
    assert [Tick.model_validate(tick).model_dump(mode="json", exclude_unset=True) for tick in ticks] == ticks
    signals = (await service.client.get(f"/api/runs/{streamed.run_id}/signals")).json()["signals"]
    assert signals
    assert [SignalRecord.model_validate(each).to_json() for each in signals] == signals
