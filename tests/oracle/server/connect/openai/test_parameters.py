"""Bodies of which nothing is certain: each is read, or refused with a place in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.errors import UserError
from oracle.server.connect.openai.chat import read_chat
from oracle.server.connect.openai.errors import param_of
from oracle.server.connect.openai.requests import IgnoredNames

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
PART = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "image_url", "refusal"]) | JSON, "text": JSON}
)
CONTENT = st.none() | st.text(max_size=20) | st.lists(PART | JSON, max_size=3) | JSON
MESSAGE = st.fixed_dictionaries({}, optional={"role": ROLES | JSON, "content": CONTENT, "tool_calls": JSON}) | JSON
BODY = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(MESSAGE, max_size=6) | JSON,
        "model": JSON,
        "stream": JSON,
        "stream_options": JSON,
        "metadata": JSON,
        "n": JSON,
        "response_format": JSON,
        "modalities": JSON,
        "audio": JSON,
        "tools": JSON,
        "temperature": JSON,
    },
)
SOUND: list[dict[str, Any]] = [{"role": "user", "content": "hello?"}]


@pytest.mark.long("many examples")
@given(BODY)
def test_any_body_is_read_or_refused(body):
    try:
        wanted = read_chat(body)
    except UserError as error:
        place = param_of(error.loc)
    else:
        place = "read"
        assert wanted.asked.question.strip()
        assert all(each.role in ("user", "assistant") and each.text for each in wanted.asked.said)
    assert place


@given(st.lists(st.fixed_dictionaries({"role": ROLES, "content": st.none() | st.text(max_size=9)}), max_size=9))
def test_roles_in_any_order_are_read_once_the_last_text_is_the_users(messages):
    wanted = read_chat({"messages": [*messages, *SOUND]}).asked
    assert wanted.question == "hello?"
    kept = [each for each in messages if each["role"] in ("user", "assistant") and each["content"]]
    assert [(each.role, each.text) for each in wanted.said] == [(each["role"], each["content"]) for each in kept]


def test_names_are_remembered_up_to_a_bound():
    names = IgnoredNames()
    for n in range(1_000):
        names.note([f"p{n}", "x" * 10_000])
    assert len(names._named) <= 200
    assert max(map(len, names._named)) <= 64


@pytest.mark.parametrize(
    ("where", "param"),
    [
        (("body", "messages", 3, "content"), "messages[3].content"),
        (("body", "question"), "messages"),
        (("body", "tree"), "model"),
        (("body",), None),
        (("header", "Idempotency-Key"), None),
        ((), None),
    ],
)
def test_places_are_named_as_openai_names_them(where, param):
    assert param_of(where) == param
