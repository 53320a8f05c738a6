"""The tree of docs/models.md over the wire: a provider that is down, and the one of the other format that answers."""

import re
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from oracle import Ask, open_oracle, read_settings
from oracle.core.chunks import Content, Done, Failed
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.support.provider import Disturbed, HttpError, StandInProvider
from tests.support.provider.completions import CompletionsServer

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
TREE = next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if text.startswith("tree: "))
EXAMPLES = Path(__file__).parents[2] / "examples" / "trees"
CALL = ScriptedCall("search_code", {"query": "login"}, id="functions.search_code:0")
ANSWER = [ScriptedTurn(text="It is in auth.py.")]
SIGNED = ScriptedTurn(text="It is in ", thinking="Where was it?")
DOWN = {
    "overloaded": [HttpError("overloaded_error", "busy", status=529)] * 9,
    "rate_limited": [HttpError("rate_limit_error", "slow down")] * 9,
    "unreachable": [],
    "timeout": [ScriptedTurn(hang=True)],
    "broken_off": [Disturbed(SIGNED, "reset")],
}


@pytest.fixture
async def answered(tmp_path, monkeypatch):
    """Asks with the tree: what came, and the servers of the first and of the other model."""
    async with AsyncExitStack() as stack:

        async def ask(first, other, *, claude_is_first, tree=TREE):
            of_claude, of_other = (first, other) if claude_is_first else (other, first)
            claude = await stack.enter_async_context(StandInProvider(of_claude or ()))
            local = await stack.enter_async_context(CompletionsServer(of_other or ()))
            servers = (claude, local) if claude_is_first else (local, claude)
            urls = {each: each.url for each in servers}
            if not first:  # nobody listens there
                urls[servers[0]] = "http://127.0.0.1:9"
            monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", urls[claude])
            models = ("claude-sonnet-5-5", "local/qwen3:8b")
            strong, fast = models if claude_is_first else reversed(models)
            (tmp_path / "providers.yaml").write_text(
                f'providers: {{local: {{base_url: "{urls[local]}/v1"}}}}\nroles: {{strong: "{strong}", fast: "{fast}"}}'
            )
            (tmp_path / "trees").mkdir()
            for name, text in ({"two_models": tree} if isinstance(tree, str) else tree).items():
                (tmp_path / "trees" / f"{name}.yaml").write_text(text)
            (tmp_path / "auth.py").write_text("def login(): ...")
            settings = read_settings(
                providers=tmp_path / "providers.yaml",
                data_dir=tmp_path / "data",
                trees_dir=tmp_path / "trees",
                project_dir=tmp_path,
                log="critical",
            )
            chunks = []
            async with open_oracle(settings) as ready:
                query = await ready.open(Ask("Where is the login?", tree="two_models"), emit=chunks.append)
                await query.run()
            return chunks, servers

        yield ask


@pytest.mark.parametrize("claude_is_first", [True, False], ids=["claude is down", "the other one is down"])
@pytest.mark.parametrize("kind", DOWN)
async def test_the_provider_of_the_other_format_answers_and_there_is_one_done(answered, kind, claude_is_first):
    tree = TREE.replace("timeout_s: 60", "timeout_s: 0.2") if kind == "timeout" else TREE
    with capture_logs() as logs:
        chunks, (first, other) = await answered(DOWN[kind], ANSWER, claude_is_first=claude_is_first, tree=tree)
    said_why = [line["log_level"] for line in logs if line["event"] == "provider.failed"]
    assert said_why == ["warning"] * (kind != "timeout")  # the node's own time ended that turn
    (done,) = [chunk for chunk in chunks if isinstance(chunk, Done)]
    assert chunks[-1] is done
    assert (done.termination_reason, done.turns) == ("completed", 1)
    assert done.model_used == ("local/qwen3:8b" if claude_is_first else "claude-sonnet-5-5")
    assert not any(isinstance(chunk, Failed) for chunk in chunks)
    assert [request.complaint for request in (*first.requests, *other.requests)] == [None] * (1 + bool(DOWN[kind]))
    said = "".join(chunk.content for chunk in chunks if isinstance(chunk, Content))
    assert said == ("It is in It is in auth.py." if kind == "broken_off" else "It is in auth.py.")
    assert "Where was it?" not in str(other.bodies)


@pytest.mark.parametrize("claude_is_first", [True, False], ids=["claude is down", "the other one is down"])
async def test_a_provider_that_goes_down_after_its_tools_ran_leaves_their_results_to_the_other_one(
    answered, claude_is_first
):
    tree = {file.stem: file.read_text() for file in EXAMPLES.glob("t*.yaml")}
    looks = ScriptedTurn(text="I look.", thinking="Where was it?", tool_calls=(CALL,))
    first = [looks, HttpError("overloaded_error", "busy", status=529)]
    chunks, servers = await answered(first, ANSWER, claude_is_first=claude_is_first, tree=tree)
    assert [chunk.termination_reason for chunk in chunks if isinstance(chunk, Done)] == ["completed"]
    assert [request.complaint for server in servers for request in server.requests] == [None] * 3
    sent = str(servers[1].bodies[0]["messages"])
    assert "def login" in sent
    assert "Where was it?" not in sent
    assert "".join(chunk.content for chunk in chunks if isinstance(chunk, Content)).endswith("It is in auth.py.")


async def test_a_query_whose_providers_are_both_down_is_an_error_with_one_done(answered):
    chunks, _ = await answered([], [HttpError("authentication_error", "no")], claude_is_first=False)
    assert [chunk.error_type for chunk in chunks if isinstance(chunk, Failed)] == ["provider_auth"]
    assert [chunk.termination_reason for chunk in chunks if isinstance(chunk, Done)] == ["error"]
