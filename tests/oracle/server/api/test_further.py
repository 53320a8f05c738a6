"""The calls that are imported when one of them is made."""

import asyncio

from oracle.server.api.app import build_app


def _is_waiting(app):
    return app.further in app.routes


async def _asked(app, path, *, method="GET"):
    """The status of a request to the app itself."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    await app(
        {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        },
        receive,
        send,
    )
    return sent[0]["status"]


async def test_a_service_that_is_only_asked_does_not_get_the_further_calls(shared):
    app = build_app(shared.parts)
    assert [await _asked(app, path) for path in ("/healthz", "/api/oracle/runs/none", "/nowhere")] == [200, 404, 404]
    assert _is_waiting(app)


async def test_the_first_of_them_brings_them_all_also_where_several_come_at_a_time(shared):
    app = build_app(shared.parts)
    paths = ("/api/me", "/api/runs", "/api/trees", "/api/settings/agent-config")
    assert await asyncio.gather(*(_asked(app, path) for path in paths)) == [200] * 4
    assert not _is_waiting(app)
    assert len([route for route in app.routes if "/api" in getattr(route, "path", "")]) == len(
        {getattr(route, "path", "") for route in app.routes if "/api" in getattr(route, "path", "")}
    )


async def test_a_wrong_method_and_an_unknown_call_are_answered_as_ever(shared):
    app = build_app(shared.parts)
    assert await _asked(app, "/api/oracle", method="GET") == 405
    assert await _asked(app, "/api/none") == 404
