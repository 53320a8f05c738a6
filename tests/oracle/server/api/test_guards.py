import asyncio

import pytest

from bt_runtime.testing import FakeClock
from oracle.server.api.sse import StreamTiming
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, in_shared_loop

BODY = {"question": "hello"}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8000"])
@in_shared_loop
async def test_without_auth_this_machines_names_are_answered(shared, host):
    assert (await shared.client.get("/api/runs", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8000", "testserver",
     "localhost:", "localhost:x", "user@localhost", "127.0.0.2", "[::2]", "::1", "0.0.0.0:8000",
     "127.0.0.1@evil.example", "evil.example#127.0.0.1", ""],
)  # fmt: skip
@in_shared_loop
async def test_without_auth_no_other_name_is_answered(shared, host):
    for path in ("/api/runs", "/", "/metrics", "/healthz"):
        response = await shared.client.get(path, headers={"Host": host})
        assert response.status_code == 400
        assert response.json()["detail"]


async def test_with_auth_any_name_is_answered(guarded):
    response = await guarded.client.get("/api/runs", headers={**ALICE, "Host": "chat.example.com"})
    assert response.status_code == 200


async def test_two_host_headers_are_refused(service):
    reply = await _raw(service, b"GET /api/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "https://127.0.0.1:{port}", "http://127.0.0.1", "", "x",
     "http://localhost.evil.example", "file://"],
)  # fmt: skip
@in_shared_loop
async def test_without_auth_a_foreign_page_changes_nothing(shared, origin):
    headers = {"Origin": origin.format(port=shared.port)}
    for method, path in (("POST", "/api/oracle"), ("PUT", "/api/settings/agent-config"), ("DELETE", "/api/oracle/x")):
        response = await shared.client.request(method, path, json=BODY, headers=headers)
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers
    preflight = await shared.client.options("/api/oracle", headers=headers | {"Access-Control-Request-Method": "POST"})
    assert "access-control-allow-origin" not in preflight.headers
    assert shared.model.requests == []


async def test_the_services_own_page_and_clients_without_one_may_ask(service):
    own = {"Origin": f"http://127.0.0.1:{service.port}"}
    assert (await service.client.post("/api/oracle", json=BODY, headers=own)).status_code == 200
    assert (await service.client.post("/api/oracle", json=BODY)).status_code == 200


async def test_without_configuration_no_page_of_another_origin_reads_anything(guarded):
    preflight = {"Origin": "https://chat.example", "Access-Control-Request-Method": "POST"}
    answers = [
        await guarded.client.options("/api/oracle", headers=preflight),
        await guarded.client.get("/api/runs", headers={**ALICE, "Origin": "https://chat.example"}),
    ]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("tokens", [None, TOKENS], ids=["without auth", "with auth"])
async def test_pages_that_the_operator_names_may_call(start, tokens):
    service = await start(tokens=tokens, cors_origins=("https://chat.example",))
    good, bad = {"Origin": "https://chat.example"}, {"Origin": "https://evil.example"}
    headers = "authorization, last-event-id, x-stainless-retry-count"
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": headers}
    assert (await service.client.options("/api/oracle", headers=good | asked)).status_code == 200
    assert (await service.client.options("/api/oracle", headers=bad | asked)).status_code == 400
    answer = await service.client.post("/api/oracle", json=BODY, headers=good | ALICE)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://chat.example"
    assert "X-Run-Id" in answer.headers["access-control-expose-headers"]
    refused = await service.client.post("/api/oracle", json=BODY, headers=bad | ALICE)
    assert "access-control-allow-origin" not in refused.headers


async def test_a_refusal_can_be_read_by_the_pages_that_may_call(start):
    service = await start(tokens=TOKENS, cors_origins=("https://chat.example",))
    refused = await service.client.get("/api/runs", headers={"Origin": "https://chat.example"})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://chat.example"


async def test_the_size_of_a_body_is_bounded_with_and_without_content_length(start):
    service = await start(max_body_bytes=5_000)
    large = b'{"question": "' + b"a" * 6_000 + b'"}'

    async def pieces():
        for at in range(0, len(large), 1_000):
            yield large[at : at + 1_000]

    headers = {"Content-Type": "application/json"}
    for content in (large, pieces()):
        response = await service.client.post("/api/oracle", content=content, headers=headers)
        assert response.status_code == 413
        assert response.json() == {"detail": "A body may have at most 5,000 bytes."}
    assert (await service.client.post("/api/oracle", json={"question": "a" * 4_000})).status_code == 200


async def test_an_announced_size_that_is_absurd_is_refused_before_a_byte_of_it(service):
    head = (
        b"POST /api/oracle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    )
    assert (await _raw(service, head % 10**15)).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("body", [b"", b'{"question": "hel'], ids=["nothing of it", "half of it"])
async def test_a_body_that_does_not_end_in_time_is_refused_and_its_connection_closed(start, body):
    service = await start(body_s=0.05)
    head = (
        b"POST /api/oracle HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    )
    answer = await _raw(service, head + body, most=-1)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close\r\n" in answer
    assert answer.endswith(b'{"detail":"The whole body of a request must arrive within 0.05 s."}')


async def test_a_stream_may_last_longer_than_a_body(start):
    service = await start([HANGS], body_s=0.01, timing=StreamTiming(heartbeat_s=0.05))
    async with service.asking() as streamed:
        await streamed.until_comment()
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    assert streamed.done["termination_reason"] == "user_cancelled"


async def test_callers_are_rate_limited_one_by_one_with_retry_after(start):
    clock = FakeClock(jump=False)
    service = await start(tokens=TOKENS, requests_per_minute=2, requests_clock=clock.now)
    sent = [await service.client.get("/api/runs", headers=ALICE) for _ in range(21)]
    assert [answer.status_code for answer in sent] == [*[200] * 20, 429]
    assert sent[-1].headers["retry-after"] == "3"
    assert sent[-1].json()["detail"]
    assert (await service.client.get("/api/runs", headers=BOB)).status_code == 200
    assert (await service.client.get("/healthz")).status_code == 200
    for path, status in (
        ("/api/oracle/runs/never-was/cancel", 404),
        ("/v1/responses/never-was/cancel", 404),
        ("/api/chat/a%2Fb/stop", 204),
        ("/agui/threads/a%2Fb/cancel", 404),
    ):
        cancel = await service.client.post(path, headers=ALICE)
        assert cancel.status_code == status  # a cancel is never refused for that
    clock.advance(3)
    assert (await service.client.get("/api/runs", headers=ALICE)).status_code == 200


async def test_every_answer_protects_browsers_and_names_its_request(guarded):
    answers = [
        await guarded.client.get("/"),
        await guarded.client.get("/healthz"),
        await guarded.client.get("/api/runs"),
        await guarded.client.get("/api/runs", headers=ALICE),
        await guarded.client.get("/nothing-here"),
        await guarded.client.post("/healthz"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 401, 200, 404, 405]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-request-id"]
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)


async def test_a_clients_own_request_id_is_kept_if_it_is_one(guarded):
    kept = await guarded.client.get("/healthz", headers={"X-Request-Id": "proxy-7.a"})
    assert kept.headers["x-request-id"] == "proxy-7.a"
    replaced = await guarded.client.get("/healthz", headers={"X-Request-Id": 'x" onload="'})
    assert replaced.headers["x-request-id"].isalnum()


async def _raw(service, request: bytes, *, most: int = 1_000) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    try:
        writer.write(request)
        async with asyncio.timeout(20):
            return await reader.read(most)
    finally:
        writer.close()
        await writer.wait_closed()
