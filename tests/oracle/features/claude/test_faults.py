"""What the provider's failures become, and when a request is made again; through the real SDK."""

import asyncio
import re

import pytest
import structlog

from bt_runtime.testing import FakeClock
from oracle.core.retry import Retry
from oracle.features.claude.model import AnthropicModel, RetryPolicy
from oracle.llm.attempts import Attempts
from oracle.llm.faults import ProviderError, fault_of
from oracle.llm.protocol import ModelError, ModelFault, TextDelta
from oracle.testing import ScriptedTurn
from tests.support.provider import Disturbed, HttpError, StandInProvider

HELLO = ScriptedTurn(text=("Hel", "lo"))
THOUGHT = ScriptedTurn(thinking="Hm, auth.", text="Hello")
BUSY = HttpError("overloaded_error", "Overloaded")
DAMAGED = b'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, "del\n\n'
INTERNALS = re.compile(r"[A-Z]{3,}_|api[- ]?key|http|\b[1-5]\d\d\b|claude|oops|busy|tokens|no access", re.IGNORECASE)


@pytest.mark.parametrize(
    ("reply", "error_type", "words"),
    [
        pytest.param(
            HttpError("authentication_error", "invalid x-api-key"), "provider_auth", "ANTHROPIC_API_KEY", id="401"
        ),
        pytest.param(HttpError("permission_error", "no access"), "provider_auth", "403: no access", id="403"),
        pytest.param(HttpError("not_found_error", "model: x"), "provider_failed", "claude-sonnet-5-5", id="404"),
        pytest.param(
            HttpError("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            "context_too_large",
            "210000 tokens",
            id="400-too-long",
        ),
        pytest.param(
            HttpError("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000"),
            "context_too_large",
            "too long",
            id="400-with-max-tokens",
        ),
        pytest.param(
            HttpError(
                "exceed_context_size_error", "request (4120 tokens) exceeds the available context (2048)", status=400
            ),
            "context_too_large",
            "4120 tokens",
            id="400-of-llama.cpp",
        ),
        pytest.param(HttpError("request_too_large", "too many bytes"), "context_too_large", "too long", id="413"),
        pytest.param(HttpError("invalid_request_error", "tools.0: bad"), "provider_failed", "tools.0: bad", id="400"),
        pytest.param(HttpError("billing_error", "no credit"), "provider_failed", "no credit", id="402"),
        pytest.param(HttpError("rate_limit_error", "slow down"), "provider_overloaded", "rate limited", id="429"),
        pytest.param(HttpError("overloaded_error", "Overloaded"), "provider_overloaded", "overloaded", id="529"),
        pytest.param(HttpError("api_error", "busy", status=503), "provider_overloaded", "overloaded", id="503"),
        pytest.param(HttpError("api_error", "oops"), "provider_failed", "500: oops", id="500"),
        pytest.param(HttpError(status=502, body="<h1>Bad gateway</h1>"), "provider_failed", "502", id="502-html"),
        pytest.param(Disturbed(HELLO, "error_event", after=0), "provider_overloaded", "overloaded", id="event-first"),
        pytest.param(Disturbed(HELLO, "error_event", after=4), "provider_overloaded", "overloaded", id="event-later"),
        pytest.param(
            Disturbed(HELLO, "error_event", after=4, error_type="api_error", message="oops"),
            "provider_failed",
            "api_error: oops",
            id="event-api-error",
        ),
        pytest.param(Disturbed(HELLO, "reset", after=4), "provider_failed", "connection .* broke", id="reset"),
        pytest.param(Disturbed(HELLO, "reset", after=0), "provider_failed", "broke", id="reset-first"),
        pytest.param(
            Disturbed(HELLO, "early_end", after=4, garbage=DAMAGED),
            "provider_failed",
            "could not be read",
            id="damaged",
        ),
    ],
)
async def test_every_failure_has_a_type_and_texts_for_user_and_operator(
    connect, ask, read, key, reply, error_type, words
):
    line = await connect([reply] * 3)
    with pytest.raises(ModelError, match=words) as caught:
        await read(line.model, ask())
    fault = caught.value.fault
    assert fault.error_type == error_type
    assert key not in str(fault)
    assert str(caught.value) == fault.cause, "the exception's own words are the operator's"
    assert not INTERNALS.search(fault.message), "users read no names of settings, codes or words of the provider"
    assert fault.message.startswith("The ")
    assert fault.detail["model"] == "claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("reply", "requests"),
    [
        pytest.param(HttpError("rate_limit_error"), 3, id="429"),
        pytest.param(HttpError("overloaded_error"), 3, id="529"),
        pytest.param(HttpError("api_error"), 3, id="500"),
        pytest.param(HttpError("timeout_error", status=408), 3, id="408"),
        pytest.param(Disturbed(HELLO, "error_event", after=0), 3, id="overloaded-as-first-event"),
        pytest.param(Disturbed(HELLO, "error_event", after=2), 3, id="overloaded-before-content"),
        pytest.param(Disturbed(HELLO, "reset", after=1), 3, id="reset-before-content"),
        pytest.param(Disturbed(HELLO, "early_end", after=2, garbage=DAMAGED), 3, id="damaged-before-content"),
        pytest.param(Disturbed(HELLO, "early_end", after=4, garbage=DAMAGED), 1, id="damaged-after-content"),
        pytest.param(Disturbed(HELLO, "error_event", after=4), 1, id="overloaded-after-content"),
        pytest.param(Disturbed(HELLO, "reset", after=4), 1, id="reset-after-content"),
        pytest.param(HttpError("invalid_request_error"), 1, id="400"),
        pytest.param(HttpError("authentication_error"), 1, id="401"),
        pytest.param(HttpError("not_found_error"), 1, id="404"),
        pytest.param(HttpError("api_error", headers={"x-should-retry": "false"}), 1, id="retry-denied"),
        pytest.param(HttpError("invalid_request_error", headers={"x-should-retry": "true"}), 3, id="retry-requested"),
    ],
)
async def test_a_request_is_repeated_only_until_an_answer_begins(connect, ask, read, reply, requests):
    line = await connect([reply] * 5)
    with pytest.raises(ModelError):
        await read(line.model, ask())
    assert len(line.provider.requests) == requests


async def test_a_turn_after_retries_is_the_same_as_without(connect, ask, read, said, end):
    line = await connect([HttpError("overloaded_error"), Disturbed(HELLO, "reset", after=2), HELLO])
    events = await read(line.model, ask())
    assert said(events) == "Hello"
    assert end(events).stop_reason == "end_turn"
    assert line.waits.seconds == [0.5, 1.0]


async def test_the_provider_can_ask_for_a_wait(connect, ask, read):
    line = await connect(
        [
            HttpError("rate_limit_error", headers={"retry-after": "3"}),
            HttpError(headers={"retry-after-ms": "250"}),
            HELLO,
        ]
    )
    await read(line.model, ask())
    assert line.waits.seconds == [3.0, 0.25]


@pytest.mark.parametrize("time_left_s", [None, 90.5], ids=["no-deadline", "deadline"])
async def test_a_wait_beyond_the_available_time_is_not_started(connect, ask, read, time_left_s):
    line = await connect([HttpError("rate_limit_error", headers={"retry-after": "90"}), HELLO])
    with pytest.raises(ModelError, match="in 90 s") as caught:
        await read(line.model, ask(time_left_s=time_left_s))
    assert line.waits.seconds == []
    assert caught.value.fault.detail["retry_after_s"] == 90
    assert "in 90 s" in caught.value.fault.message


async def test_a_wait_of_minutes_is_honoured_before_the_deadline(connect, ask, read, said):
    line = await connect([HttpError("rate_limit_error", headers={"retry-after": "90"}), HELLO])
    assert said(await read(line.model, ask(time_left_s=110))) == "Hello"
    assert line.waits.seconds == [90.0]


@pytest.mark.parametrize(
    ("busy", "attempts"),
    [
        pytest.param(BUSY, 13, id="529"),
        pytest.param(HttpError("rate_limit_error"), 13, id="429"),
        pytest.param(HttpError("api_error", status=503), 13, id="503"),
        pytest.param(Disturbed(HELLO, "error_event", after=0), 13, id="overloaded-as-first-event"),
        pytest.param(HttpError("api_error"), 3, id="500"),
        pytest.param(Disturbed(HELLO, "reset", after=0), 3, id="reset"),
    ],
)
async def test_the_deadline_bounds_retries_under_load_and_a_count_all_others(connect, ask, read, busy, attempts):
    line = await connect([busy] * 50)
    with pytest.raises(ModelError):
        await read(line.model, ask(time_left_s=73))
    assert len(line.provider.requests) == attempts
    assert sum(line.waits.seconds) <= 72
    assert max(line.waits.seconds) <= 8


async def test_elapsed_time_counts_as_well_as_waits(ask, read, key):
    class SlowProvider(FakeClock):
        async def wait(self, _event, *, until_s):
            self.advance(until_s - self.now() + 10)

    policy = RetryPolicy(backoff=Retry(0.5, 8.0, chance=lambda: 0.0), clock=SlowProvider())
    async with StandInProvider([BUSY] * 50) as provider:
        model = AnthropicModel(api_key=key, base_url=provider.url, retry=policy)
        with pytest.raises(ModelError):
            await read(model, ask(time_left_s=24))
        await model.aclose()
        assert len(provider.requests) == 3


async def test_retries_can_be_turned_off(connect, ask, read):
    line = await connect([BUSY] * 3, max_retries=0)
    with pytest.raises(ModelError):
        await read(line.model, ask(time_left_s=100))
    assert len(line.provider.requests) == 1


@pytest.mark.parametrize(
    ("refusal", "heard"),
    [
        pytest.param(HttpError("rate_limit_error", "slow down", headers={"retry-after": "7"}), [7.0], id="429"),
        pytest.param(BUSY, [None], id="529"),
        pytest.param(Disturbed(HELLO, "error_event", after=0), [None], id="overloaded-as-first-event"),
        pytest.param(HttpError("api_error"), [], id="500"),
        pytest.param(Disturbed(HELLO, "reset", after=0), [], id="reset"),
    ],
)
async def test_a_refusal_because_of_load_is_told_although_the_request_is_repeated(ask, read, said, key, refusal, heard):
    told = []
    policy = RetryPolicy(clock=FakeClock())
    async with StandInProvider([refusal, HELLO]) as provider:
        model = AnthropicModel(api_key=key, base_url=provider.url, retry=policy, on_load=told.append)
        assert said(await read(model, ask(time_left_s=100))) == "Hello"
        await model.aclose()
    assert told == heard


@pytest.mark.parametrize(
    ("refusal", "attempts"),
    [pytest.param(BUSY, 1, id="529"), pytest.param(HttpError("api_error"), 3, id="500")],
)
async def test_who_leaves_the_provider_to_others_repeats_all_but_refusals_because_of_load(
    ask, read, key, refusal, attempts
):
    policy = RetryPolicy(clock=FakeClock(), waits_for_load=False)
    async with StandInProvider([refusal] * 5) as provider:
        model = AnthropicModel(api_key=key, base_url=provider.url, retry=policy)
        with pytest.raises(ModelError):
            await read(model, ask(time_left_s=100))
        await model.aclose()
        assert len(provider.requests) == attempts


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(Disturbed(THOUGHT, "error_event", after=4), id="overloaded"),
        pytest.param(Disturbed(THOUGHT, "reset", after=4), id="reset"),
        pytest.param(Disturbed(THOUGHT, "early_end", after=4, garbage=DAMAGED), id="damaged"),
    ],
)
async def test_thinking_is_not_an_answer_so_the_request_is_repeated(connect, ask, read, said, broken):
    line = await connect([broken, THOUGHT])
    assert said(await read(line.model, ask(thinking_tokens=2048))) == "Hello"


async def test_nothing_is_repeated_once_an_answer_has_begun(connect, ask, read):
    line = await connect([Disturbed(THOUGHT, "error_event", after=7), THOUGHT])
    with pytest.raises(ModelError, match="overloaded"):
        await read(line.model, ask(thinking_tokens=2048))
    assert len(line.provider.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [BUSY, Disturbed(HELLO, "error_event", after=4), Disturbed(HELLO, "reset", after=4)],
    ids=["refused", "in-the-stream", "reset"],
)
async def test_the_provider_s_request_id_is_in_the_fault_and_in_the_log(connect, ask, read, reply):
    line = await connect([reply], max_retries=0)
    with structlog.testing.capture_logs() as lines, pytest.raises(ModelError) as caught:
        await read(line.model, ask())
    assert caught.value.fault.detail["request_id"] == "req_standin_1"
    (failed,) = [each for each in lines if each["event"] == "provider.failed"]
    assert failed["detail"]["request_id"] == "req_standin_1"
    assert not [each for each in lines if "request_id" in each]  # a line's own is that of the request to the service
    assert failed["problem"] == caught.value.fault.cause
    assert failed["retry_in_s"] is None


@pytest.mark.parametrize("header", ["nan", "inf", "-5", "soon", ""])
async def test_a_retry_after_that_is_not_a_number_of_seconds_is_ignored(connect, ask, read, header):
    line = await connect([HttpError("rate_limit_error", headers={"retry-after": header}), HELLO])
    await read(line.model, ask())
    assert line.waits.seconds == [0.5]


def test_waits_grow_up_to_a_limit_and_end():
    attempts = Attempts(RetryPolicy(40, Retry(0.5, 8.0, chance=lambda: 1.0)), time_left_s=None)
    waits = [attempts.next_wait_s(None) for _ in range(41)]
    assert waits[:3] == [0.375, 0.75, 1.5]
    assert waits[39] == 6.0
    assert waits[40] is None


async def test_text_before_a_reset_is_yielded(connect, ask):
    line = await connect([Disturbed(HELLO, "reset", after=5)])
    events = line.model.stream(ask())
    assert [await anext(events) for _ in range(3)][1:] == [TextDelta("Hel"), TextDelta("lo")]
    with pytest.raises(ModelError, match="broke"):
        await anext(events)


async def test_silence_counts_as_a_broken_connection(ask, read, key):
    retry = RetryPolicy(max_retries=0)
    async with StandInProvider([ScriptedTurn(text="Hello", hang=True)]) as provider:
        model = AnthropicModel(api_key=key, base_url=provider.url, retry=retry, silence_s=0.05)
        with pytest.raises(ModelError, match="broke"):
            await read(model, ask())
        await model.aclose()


async def test_an_unreachable_provider_is_reported(ask, read, key):
    async with StandInProvider() as provider:
        url = provider.url
    model = AnthropicModel(api_key=key, base_url=url, retry=RetryPolicy(max_retries=0))
    with pytest.raises(ModelError, match="could not be reached") as caught:
        await read(model, ask())
    assert caught.value.fault.error_type == "provider_failed"
    await model.aclose()


@pytest.mark.parametrize(
    "bad_key", ["sk-ant-ключ", "sk-ant-a\nb", "sk-ant-\u2028x"], ids=["cyrillic", "line-break", "separator"]
)
async def test_an_unusable_key_is_not_repeated_in_the_error(ask, read, bad_key):
    async with StandInProvider([HELLO]) as provider:
        model = AnthropicModel(api_key=bad_key, base_url=provider.url, retry=RetryPolicy(max_retries=0))
        with pytest.raises(ModelError) as caught:
            await read(model, ask())
        assert caught.value.fault.error_type == "provider_auth"
        assert bad_key not in repr(caught.value.fault)
        assert caught.value.__cause__ is None
        await model.aclose()


async def test_without_any_key_the_error_says_what_to_set(ask, read, monkeypatch, tmp_path):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with StandInProvider([HELLO]) as provider:
        model = AnthropicModel(base_url=provider.url)
        with pytest.raises(ModelError, match="ANTHROPIC_API_KEY") as caught:
            await read(model, ask())
        assert caught.value.fault.error_type == "provider_auth"
        await model.aclose()


def test_missing_credentials_are_reported_by_the_constructor(monkeypatch, tmp_path):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY") as caught:
        AnthropicModel()
    assert caught.value.fault.error_type == "provider_auth"


@pytest.mark.parametrize(
    "reply",
    [
        lambda key: HttpError("authentication_error", f"invalid key {key}"),
        lambda key: HttpError("api_error", "x" * 290 + key),
        lambda key: Disturbed(HELLO, "error_event", error_type="api_error", message=f"key {key}"),
        lambda key: HttpError(status=502, body=f"<p>x-api-key: {key}</p>"),
    ],
    ids=["auth", "at-the-cut", "event", "html"],
)
async def test_a_key_repeated_by_the_provider_is_removed(connect, ask, read, key, reply):
    line = await connect([reply(key)], max_retries=0)
    with pytest.raises(ModelError) as caught:
        await read(line.model, ask())
    assert key[:12] not in repr(caught.value.fault)


async def test_the_right_key_is_accepted_and_a_wrong_one_is_not(connect, ask, read, key, said):
    line = await connect([HELLO], api_key=key)
    assert said(await read(line.model, ask())) == "Hello"
    other = await connect([HELLO], api_key="another")
    with pytest.raises(ModelError) as caught:
        await read(other.model, ask())
    assert caught.value.fault.error_type == "provider_auth"


async def test_a_cancel_while_waiting_for_a_retry_ends_it(ask, key, read):
    waiting = asyncio.Event()

    class EndlessWait(FakeClock):
        async def wait(self, event, *, until_s):
            waiting.set()
            await event.wait()

    async with StandInProvider([HttpError("overloaded_error")]) as provider:
        model = AnthropicModel(api_key=key, base_url=provider.url, retry=RetryPolicy(clock=EndlessWait()))
        task = asyncio.create_task(read(model, ask()))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.aclose()


def test_the_providers_text_is_bounded_and_on_one_line():
    fault = fault_of(ProviderError(500, "api_error", "a\n" * 5000), model="m")
    assert len(fault.cause) < 500
    assert "\n" not in fault.cause


async def test_the_fault_of_a_script_is_the_same_over_the_wire(connect, ask, read):
    fault = ModelFault("context_too_large", "much too long")
    line = await connect([ScriptedTurn(fault=fault)])
    with pytest.raises(ModelError) as caught:
        await read(line.model, ask())
    assert caught.value.fault.error_type == "context_too_large"


@pytest.mark.parametrize("key", ["x", "context"])
async def test_a_short_key_is_not_searched_for_in_what_the_provider_says(connect, ask, read, key):
    words = "the request exceeds the available context size"
    line = await connect([HttpError("invalid_request_error", words)])
    model = AnthropicModel(api_key=key, base_url=line.provider.url)
    with pytest.raises(ModelError, match=words) as caught:
        await read(model, ask())
    await model.aclose()
    assert caught.value.fault.error_type == "context_too_large"


async def test_an_error_is_classified_by_the_words_that_came_and_shown_without_the_key(ask, read, connect):
    key = "context window"
    line = await connect([HttpError("invalid_request_error", f"beyond the {key} of this model")])
    model = AnthropicModel(api_key=key, base_url=line.provider.url)
    with pytest.raises(ModelError, match=r"beyond the \[key\] of") as caught:
        await read(model, ask())
    await model.aclose()
    assert caught.value.fault.error_type == "context_too_large"


async def test_an_address_that_ends_in_its_version_is_named_as_the_cause(connect, ask, read, key):
    line = await connect([HttpError("not_found_error", "File Not Found")])
    model = AnthropicModel(api_key=key, base_url=f"{line.provider.url}/v1")
    with pytest.raises(ModelError, match="ANTHROPIC_BASE_URL has /v1, which is added to it") as caught:
        await read(model, ask())
    await model.aclose()
    assert "not set up" in caught.value.fault.message
