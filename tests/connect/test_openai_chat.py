"""OpenAI's SDKs, in Python and in JavaScript, against models and chat completions."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.connect.stage import MODEL, PATIENCE_S, Node, Stage, staged, token
from tests.support.provider import Disturbed, HttpError

pytestmark = pytest.mark.asyncio(loop_scope="session")


def asked(question: str) -> Any:
    return [{"role": "user", "content": question}]


ASKED = asked("Where does login begin?")
USAGE = Usage(input_tokens=100, cache_creation_tokens=20, cache_read_tokens=300, output_tokens=7)
ANSWER = ScriptedTurn(text=("It begins ", "in login.py. ", "«größtenteils» 🙂"), usage=USAGE)
LOOKS = ScriptedTurn(
    thinking="They ask about login.",
    text="Let me look. ",
    tool_calls=(ScriptedCall("search_code", {"query": "login"}),),
    usage=USAGE,
)
FAILS = Disturbed(ScriptedTurn(text=("It begins ", "here ")), "error_event", error_type="invalid_request_error")


def run_of(completion_id: str) -> str:
    return completion_id.removeprefix("chatcmpl-")


async def check_usage(stage: Stage, run_id: str, usage: Any) -> None:
    used = (await stage.done(run_id))["usage"]
    cached = used.get("cache_read_tokens", 0)
    assert usage["prompt_tokens"] == used["input_tokens"] + used.get("cache_creation_tokens", 0) + cached
    assert usage["completion_tokens"] == used["output_tokens"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == cached


async def test_a_stream_has_the_native_answer_and_its_usage(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk:
        stream = await sdk.chat.completions.create(
            model="oracle", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    run_id = run_of(chunks[0].id)
    choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert choices[0].delta.role == "assistant"
    assert "".join(each.delta.content or "" for each in choices) == await stage.answer(run_id)
    reasoning = "".join(getattr(each.delta, "reasoning_content", None) or "" for each in choices)
    assert reasoning.startswith("They ask about login.\nTool: search_code")
    assert [each.finish_reason for each in choices if each.finish_reason] == ["stop"]
    assert all(each.delta.tool_calls is None for each in choices)
    assert {(chunk.id, chunk.model, chunk.object) for chunk in chunks} == {
        (f"chatcmpl-{run_id}", "oracle", "chat.completion.chunk")
    }
    assert [bool(chunk.usage) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    await check_usage(stage, run_id, chunks[-1].usage.model_dump())


async def test_the_helper_of_the_sdk_puts_a_stream_together(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with (
        stage.openai_client() as sdk,
        sdk.chat.completions.stream(model="oracle", messages=ASKED, stream_options={"include_usage": True}) as stream,
    ):
        completion = await stream.get_final_completion()
    assert completion.choices[0].message.content == await stage.answer(run_of(completion.id))
    await check_usage(stage, run_of(completion.id), completion.usage.model_dump())


async def test_a_whole_answer_is_the_native_one(stage: Stage) -> None:
    stage.desk.play(LOOKS, ANSWER)
    async with stage.openai_client() as sdk:
        completion = await sdk.chat.completions.create(model="oracle", messages=ASKED)
    run_id = run_of(completion.id)
    [choice] = completion.choices
    assert choice.message.content == await stage.answer(run_id)
    assert choice.message.reasoning_content.startswith("They ask about login.")
    assert choice.finish_reason == "stop"
    await check_usage(stage, run_id, completion.usage.model_dump())


async def test_the_page_about_chats_works_as_it_is_written(stage: Stage) -> None:
    page = Path(__file__).parents[2] / "docs" / "chat.md"
    blocks = re.findall(r"```python\n(.+?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    [code] = (block for block in blocks if block.startswith("from openai"))
    stage.desk.play(ANSWER)
    code = code.replace("https://oracle.example.com", stage.url).replace("the key", token("alice"))
    ended = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    out, _ = await ended.communicate()
    assert out.decode() == "".join(ANSWER.text)


async def test_the_models_are_the_trees_and_what_may_be_named_under_them(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text="I am the other one."))
    async with stage.openai_client() as sdk:
        names = [model.id async for model in sdk.models.list()]
        assert names[0] == "oracle"
        assert f"oracle/{MODEL}" in names
        assert (await sdk.models.retrieve(f"oracle/{MODEL}")).id == f"oracle/{MODEL}"
        completion = await sdk.chat.completions.create(model=f"oracle/{MODEL}", messages=ASKED)
    assert completion.model == f"oracle/{MODEL}"
    assert stage.desk.bodies[0]["model"] == MODEL


Refused = Callable[[openai.AsyncOpenAI], Awaitable[Any]]

REFUSED: dict[str, tuple[Refused, type[openai.APIStatusError], str | None, str | None]] = {
    "another model": (
        lambda sdk: sdk.chat.completions.create(model="gpt-4o", messages=ASKED),
        openai.NotFoundError,
        "model_not_found",
        "model",
    ),
    "a tree that is internal": (
        lambda sdk: sdk.models.retrieve("use_tools"),
        openai.NotFoundError,
        "model_not_found",
        "model",
    ),
    "two answers": (
        lambda sdk: sdk.chat.completions.create(model="oracle", messages=ASKED, n=2),
        openai.BadRequestError,
        None,
        "n",
    ),
    "no question": (
        lambda sdk: sdk.chat.completions.create(model="oracle", messages=[]),
        openai.BadRequestError,
        None,
        "messages",
    ),
    "a picture": (
        lambda sdk: sdk.chat.completions.create(
            model="oracle",
            messages=[
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
            ],
        ),
        openai.BadRequestError,
        None,
        "messages[0].content[0]",
    ),
    "another address": (
        lambda sdk: sdk.embeddings.create(model="oracle", input="x"),
        openai.NotFoundError,
        "not_found",
        None,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_refused_is_raised_as_the_sdks_own_error(stage: Stage, name: str) -> None:
    ask, kind, code, param = REFUSED[name]
    async with stage.openai_client() as sdk:
        with pytest.raises(kind) as raised:
            await ask(sdk)
    assert (raised.value.code, raised.value.param) == (code, param)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.body["message"]
    assert not stage.desk.requests


async def test_a_wrong_key_is_an_authentication_error(stage: Stage) -> None:
    async with stage.openai_client(key="wrong") as sdk:
        with pytest.raises(openai.AuthenticationError) as raised:
            await sdk.models.list()
    assert raised.value.code == "invalid_api_key"


async def test_a_run_that_fails_before_its_answer_is_an_internal_error_and_asked_once(stage: Stage) -> None:
    stage.desk.play(HttpError("authentication_error", "invalid x-api-key"))
    async with stage.openai_client() as sdk:
        with pytest.raises(openai.InternalServerError) as raised:
            await sdk.chat.completions.create(model="oracle", messages=ASKED)
    assert raised.value.code == "provider_auth"
    assert len(stage.desk.requests) == 1


async def test_an_error_in_mid_stream_is_raised_after_the_text_before_it(stage: Stage) -> None:
    stage.desk.play(FAILS)
    said: list[str] = []
    async with stage.openai_client() as sdk:
        stream = await sdk.chat.completions.create(model="oracle", messages=ASKED, stream=True)

        async def read() -> None:
            async for chunk in stream:
                said.append(chunk.choices[0].delta.content or "")  # noqa: PERF401  what came before the error counts

        with pytest.raises(openai.APIError) as raised:
            await read()
    assert "".join(said).startswith("It begins here ")
    assert raised.value.code == "provider_failed"


async def test_too_many_requests_are_a_rate_limit_error_and_the_sdk_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    async with staged(tmp_path, ORACLE_REQUESTS_PER_MINUTE="6") as stage, stage.openai_client() as sdk:
        impatient = sdk.with_options(max_retries=0)
        found = await asyncio.gather(*(impatient.models.list() for _ in range(70)), return_exceptions=True)
        refused = [each for each in found if isinstance(each, openai.RateLimitError)]
        assert refused
        assert int(refused[0].response.headers["retry-after"]) >= 1
        assert refused[0].code == "rate_limit_exceeded"
        assert [model.id async for model in sdk.with_options(max_retries=5).models.list()]


async def test_a_connection_that_is_cut_before_the_first_byte_makes_one_run(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("It begins ", "in login.py."), delay_s=0.5))
    before = len(await stage.runs())
    async with stage.openai_client() as sdk:
        asking = asyncio.create_task(sdk.chat.completions.create(model="oracle", messages=ASKED))
        await stage.desk.wait_request()
        stage.proxy.cut()
        stage.proxy.mend()
        completion = await asking
    assert completion.choices[0].message.content == "It begins in login.py."
    assert len(await stage.runs()) == before + 1
    assert len(stage.desk.requests) == 1


@pytest.mark.usefixtures("on_both_databases")
async def test_an_answer_whose_worker_is_killed_is_whole(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("It begins ", "here "), hang=True), ScriptedTurn(text="and ends."))
    before = len(await stage.runs())
    async with stage.openai_client(max_retries=8) as sdk:
        asking = asyncio.create_task(sdk.chat.completions.create(model="oracle", messages=ASKED))
        await stage.desk.wait_request()
        await stage.kill()
        completion = await asking
    assert completion.choices[0].message.content == await stage.answer(run_of(completion.id))
    assert completion.choices[0].message.content.endswith("and ends.")
    assert len(await stage.runs()) == before + 1


@pytest.mark.usefixtures("on_both_databases")
async def test_streams_whose_worker_is_killed_raise_and_their_native_answers_are_whole(
    stage: Stage, node: Node
) -> None:
    """Neither SDK repeats a stream that has begun. JavaScript's own error is that of `fetch`."""
    begins = ScriptedTurn(text=("It begins ", "here "), hang=True)
    stage.desk.play(*[begins] * 3, *[ScriptedTurn(text="and ends.")] * 3)
    before = len(await stage.runs())
    given = (stage.url, token("alice"))
    whole = asyncio.create_task(
        node.run("openai_chat.mjs", *given, "whole", _json(body={"messages": asked("Whole?")}, maxRetries=8))
    )
    streaming = await node.start("openai_chat.mjs", *given, "stream", _json(body={"messages": asked("In Node?")}))
    assert streaming.stdout is not None
    async with stage.openai_client() as sdk, asyncio.timeout(PATIENCE_S):
        stream = aiter(await sdk.chat.completions.create(model="oracle", messages=ASKED, stream=True))
        chunks, in_node = [await anext(stream)], [json.loads(await streaming.stdout.readline())]
        while not chunks[-1].choices[0].delta.content:
            chunks.append(await anext(stream))
        while "begins" not in json.dumps(in_node):
            in_node.append(json.loads(await streaming.stdout.readline()))
        await stage.desk.wait_request(3)
        await stage.kill()
        with pytest.raises(openai.APIConnectionError):
            chunks += [chunk async for chunk in stream]
    out, _ = await streaming.communicate()
    *rest, failed = map(json.loads, out.splitlines())
    assert (failed["error"], failed["message"]) == ("TypeError", "terminated")
    of_node = [each["chunk"]["choices"][0]["delta"].get("content") or "" for each in (*in_node, *rest)]
    of_python = [chunk.choices[0].delta.content or "" for chunk in chunks]
    for run_id, said in ((run_of(in_node[0]["chunk"]["id"]), of_node), (run_of(chunks[0].id), of_python)):
        answer = await stage.answer(run_id)
        assert answer.startswith("".join(said))
        assert answer.endswith("and ends.")
        assert (await stage.done(run_id))["termination_reason"] == "completed"
    [completed] = await whole
    assert completed["completion"]["choices"][0]["message"]["content"] == await stage.answer(
        run_of(completed["completion"]["id"])
    )
    assert len(await stage.runs()) == before + 3


async def test_a_stream_that_is_dropped_cancels_nothing(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("It begins ", "here "), delay_s=0.3))
    async with stage.openai_client() as sdk:
        stream = await sdk.chat.completions.create(model="oracle", messages=ASKED, stream=True)
        first = await anext(aiter(stream))
        await stream.close()
    assert await stage.answer(run_of(first.id)) == "It begins here "
    assert (await stage.done(run_of(first.id)))["termination_reason"] == "completed"


async def test_the_javascript_sdk_reads_the_same_stream(stage: Stage, node: Node) -> None:
    stage.desk.play(LOOKS, ANSWER)
    said = await node.run("openai_chat.mjs", stage.url, token("alice"), "stream", _json(body={"messages": ASKED}))
    chunks = [each["chunk"] for each in said]
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"])
    assert text == await stage.answer(run_of(chunks[0]["id"]))
    assert chunks[-1]["choices"] == []
    await check_usage(stage, run_of(chunks[0]["id"]), chunks[-1]["usage"])


async def test_the_helper_of_the_javascript_sdk_puts_a_stream_together(stage: Stage, node: Node) -> None:
    stage.desk.play(LOOKS, ANSWER)
    [said] = await node.run("openai_chat.mjs", stage.url, token("alice"), "helper", _json(body={"messages": ASKED}))
    run_id = run_of(said["completion"]["id"])
    assert said["content"] == "".join(said["pieces"]) == await stage.answer(run_id)
    await check_usage(stage, run_id, said["completion"]["usage"])


async def test_the_javascript_sdk_raises_its_own_errors(stage: Stage, node: Node) -> None:
    wanted = {
        "AuthenticationError": ("wrong", "models", {}),
        "NotFoundError": (token("alice"), "model", {"model": "gpt-4o"}),
        "BadRequestError": (token("alice"), "whole", {"messages": ASKED, "n": 2}),
    }
    for name, (key, what, body) in wanted.items():
        [said] = await node.run("openai_chat.mjs", stage.url, key, what, _json(body=body))
        assert said["error"] == name, said
    stage.desk.play(HttpError("authentication_error", "invalid x-api-key"))
    [said] = await node.run("openai_chat.mjs", stage.url, token("alice"), "whole", _json(body={"messages": ASKED}))
    assert said["error"] == "InternalServerError", said
    stage.desk.play(FAILS)
    *_, said = await node.run("openai_chat.mjs", stage.url, token("alice"), "stream", _json(body={"messages": ASKED}))
    assert said["error"] == "APIError", said


async def test_the_javascript_sdk_has_one_run_where_its_connection_is_cut(stage: Stage, node: Node) -> None:
    stage.desk.play(ScriptedTurn(text="In login.py.", delay_s=0.5))
    before = len(await stage.runs())
    asking = asyncio.create_task(
        node.run("openai_chat.mjs", stage.url, token("alice"), "whole", _json(body={"messages": ASKED}))
    )
    await stage.desk.wait_request()
    stage.proxy.cut()
    stage.proxy.mend()
    [said] = await asking
    assert said["completion"]["choices"][0]["message"]["content"] == "In login.py."
    assert len(await stage.runs()) == before + 1


def _json(**values: Any) -> str:
    return json.dumps(values)
