"""A service whose models are those of another provider, without any key of Claude's."""

import httpx2
import pytest

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.acceptance.scripts import CODE_QUESTION
from tests.service.queries import PATIENCE_S
from tests.service.server import serving
from tests.support.provider.completions import CompletionsServer

LOOK = ScriptedTurn(
    text="I look.", tool_calls=(ScriptedCall("search_code", {"query": "RetryPolicy"}),), usage=Usage(100, 0, 0, 9)
)
FOUND = ScriptedTurn(text="It is in src/retry.py.", usage=Usage(200, 0, 50, 9))


@pytest.mark.long("starts a service")
@pytest.mark.asyncio(loop_scope="session")
async def test_a_question_is_answered_with_tools_and_others_by_the_models_that_they_name(tmp_path):
    async with CompletionsServer([LOOK, FOUND, ScriptedTurn(text="You are welcome.")]) as models:
        file = tmp_path / "providers.yaml"
        file.write_text(f"providers: {{gpu: {{base_url: '{models.url}/v1'}}}}\nroles: {{fast: gpu/small}}\n")
        settings = {"ORACLE_PROVIDERS": str(file), "ORACLE_MODEL": "gpu/large", "ORACLE_MODELS": "fast"}
        async with (
            serving(tmp_path, with_provider=False, **settings) as server,
            httpx2.AsyncClient(base_url=server.url, timeout=PATIENCE_S) as client,
        ):
            me = (await client.get("/api/me")).json()
            answered = (await client.post("/api/oracle", json={"question": CODE_QUESTION})).json()
            named = {"model": "oracle/fast", "messages": [{"role": "user", "content": "Thanks!"}]}
            of_role = (await client.post("/v1/chat/completions", json=named)).json()
            refused = await client.post("/api/oracle", json={"question": "Hi", "model": "openai/gpt-5"})
    assert (me["provider"], me["model"], me["models"]) == ("gpu", "gpu/large", ["gpu/large", "fast"])
    assert (answered["answer"], answered["model_used"]) == ("I look.\n\nIt is in src/retry.py.", "gpu/large")
    assert answered["tokens_used"] == 318
    assert of_role["choices"][0]["message"]["content"] == "You are welcome."
    assert refused.status_code == 422
    assert [body["model"] for body in models.bodies] == ["large", "large", "small"]
    assert [request.complaint for request in models.requests] == [None, None, None]
