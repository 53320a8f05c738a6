"""Two users of one chat backend, who talk to it at the same time, in conversations of the same name."""

import json
from pathlib import Path

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.test_backends import BACKENDS, SECRET, TOKENS, signed
from tests.support.issuer import issuing

RECORDED = json.loads((Path(__file__).parents[3] / "data" / "clients" / "identity_headers.json").read_text())
COMPLETIONS = "/v1/chat/completions"


def asked(*texts: str) -> dict:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"model": "oracle", "messages": messages}


def headers(name: str, token: str, **filled: str) -> dict[str, str]:
    found = {key: value.format(token=token, **filled) for key, value in RECORDED[name]["headers"].items()}
    return {key: value for key, value in found.items() if key != "Accept-Encoding"}


async def test_users_of_open_webui_are_told_apart_by_what_it_signs(start):
    service = await start(
        [ScriptedTurn(text="Yes.")], tokens=TOKENS, chat_backends=BACKENDS, openwebui_jwt_secret=SECRET
    )

    def of(user: str, **claims) -> dict[str, str]:
        return headers("open_webui_signed", "webui-token", jwt=signed(sub=user, **claims))

    for user in ("ann", "ben"):
        answer = await service.client.post(COMPLETIONS, json=asked(f"I am {user}."), headers=of(user))
        assert answer.status_code == 200, answer.text
    seen = {}
    for user in ("ann", "ben"):
        listed = (await service.client.get("/api/oracle/conversations", headers=of(user))).json()["conversations"]
        seen[user] = [each["title"] for each in listed]
    assert seen == {"ann": ["I am ann."], "ben": ["I am ben."]}
    more = asked("I am ann.", "Yes.", "Who am I?")  # her history, sent by him
    assert (await service.client.post(COMPLETIONS, json=more, headers=of("ben"))).status_code == 200
    (hers,) = (await service.client.get("/api/oracle/conversations", headers=of("ann"))).json()["conversations"]
    kept = await service.client.get(f"/api/oracle/conversations/{hers['context_id']}", headers=of("ann"))
    assert [each["content"] for each in kept.json()["messages"]] == ["I am ann.", "Yes."]
    assert (
        await service.client.get(f"/api/oracle/conversations/{hers['context_id']}", headers=of("ben"))
    ).status_code == 404


async def test_a_backend_that_names_nobody_gets_the_models_and_no_answer(start):
    service = await start(tokens=TOKENS, chat_backends=BACKENDS, openwebui_jwt_secret=SECRET)
    nobody = {"Authorization": "Bearer webui-token"}
    assert (await service.client.get("/v1/models", headers=nobody)).json()["data"][0]["id"] == "oracle"
    refused = await service.client.post(COMPLETIONS, json=asked("Who am I?"), headers=nobody)
    assert refused.status_code == 403
    assert refused.json()["error"]["type"] == "permission_error"
    assert "name its user: X-OpenWebUI-User-Jwt header" in refused.json()["error"]["message"]


async def test_what_is_forged_is_refused_in_the_form_that_the_client_reads(start):
    service = await start(tokens=TOKENS, chat_backends=BACKENDS, openwebui_jwt_secret=SECRET)
    forged = headers("open_webui_signed", "webui-token", jwt=signed(key="another-secret-that-is-long-enough-01"))
    plain = headers("open_webui_plain", "webui-token")
    other = headers("open_webui_signed", "anna-token", jwt=signed())
    told = []
    for each in (forged, plain, other):
        refused = await service.client.post(COMPLETIONS, json=asked("Who am I?"), headers=each)
        assert refused.status_code == 403
        told.append(refused.json()["error"]["message"])
    assert told[0] == "The X-OpenWebUI-User-Jwt header is not valid: its signature is wrong."
    assert "ORACLE_USER_HEADER" in told[1]
    assert "ORACLE_CHAT_BACKENDS" in told[2]
    assert (
        await service.client.get("/api/runs", headers=headers("open_webui_signed", "webui-token", jwt=signed()))
    ).json()["runs"] == []


async def test_users_of_librechat_are_those_of_their_access_tokens(start):
    with issuing() as issuer:
        service = await start(
            [ScriptedTurn(text="Yes.")],
            tokens=TOKENS,
            chat_backends=BACKENDS,
            user_token_header="X-User-Token",
            oidc_issuers=(f"corp={issuer.url}",),
            oidc_audiences=("corp=oracle",),
        )
        for user in ("ann", "ben"):
            sent = headers("librechat", "chat-token", access_token=issuer.token(sub=user))
            assert (
                await service.client.post(COMPLETIONS, json=asked(f"I am {user}."), headers=sent)
            ).status_code == 200
            (run,) = (await service.client.get("/api/runs", headers=sent)).json()["runs"]
            assert (run["user_id"], run["question"]) == (f"librechat:corp:{user}", f"I am {user}.")
        unfilled = dict(RECORDED["librechat_unfilled"]["headers"]) | {"Authorization": "Bearer chat-token"}
        refused = await service.client.post(COMPLETIONS, json=asked("Who am I?"), headers=unfilled)
        assert (refused.status_code, "sent its template" in refused.text) == (403, True)
        bearer = {"Authorization": f"Bearer {issuer.token(sub='ann')}"}
        assert (await service.client.get("/api/me", headers=bearer)).json()["user_id"] == "corp:ann"
        expired = {"Authorization": f"Bearer {issuer.token(exp=1)}"}
        refused = await service.client.post(COMPLETIONS, json=asked("Who am I?"), headers=expired)
        assert refused.status_code == 401
        assert refused.json()["error"]["message"] == "The bearer token is not valid: it has expired."
