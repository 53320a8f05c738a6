"""The prompt cache of the stand-in, compared with the provider's table of invalidation."""

import pytest

from bt_runtime.testing import FakeClock
from tests.support.provider.cache import PromptCache, estimated_tokens

LONG = "word " * 1000
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL = {"name": "search_code", "description": LONG, "input_schema": {"type": "object"}, "cache_control": MARK}
WEB = {"type": "web_search_20250305", "name": "web_search"}


def text(words=LONG, **more):
    return {"type": "text", "text": words, **more}


def marked(words=LONG, mark=MARK):
    return text(words, cache_control=mark)


BODY = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "tools": [TOOL],
    "system": [marked()],
    "messages": [{"role": "user", "content": [marked()]}],
    "thinking": {"type": "adaptive"},
    "output_config": {"effort": "medium"},
}
LEVEL = estimated_tokens(TOOL), estimated_tokens(BODY["system"][0]), estimated_tokens(marked())


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def ask(clock):
    cache = PromptCache(clock.now)

    def use(body, *, workspace="key", commits=True):
        found = cache.look_up({**BODY, **body}, workspace=workspace)
        if commits:
            found.commit()
        return found.use

    return use


def test_the_first_request_writes_and_the_second_reads(ask):
    first, second = ask({}), ask({})
    assert (first.input_tokens, first.creation_tokens, first.read_tokens) == (0, sum(LEVEL), 0)
    assert (second.input_tokens, second.creation_tokens, second.read_tokens) == (0, 0, sum(LEVEL))
    assert first.whole == second.whole == sum(LEVEL)


@pytest.mark.parametrize(
    ("change", "levels"),
    [
        pytest.param({"tools": [{**TOOL, "description": "Other."}]}, 0, id="tool-definitions"),
        pytest.param({"tools": []}, 0, id="tools-gone"),
        pytest.param({"model": "claude-opus-5-5"}, 0, id="model"),
        pytest.param({"tools": [TOOL, WEB]}, 1, id="web-search"),
        pytest.param({"speed": "fast"}, 1, id="speed"),
        pytest.param({"system": [marked("Other.")]}, 1, id="system-prompt"),
        pytest.param({"tool_choice": {"type": "none"}}, 2, id="tool-choice"),
        pytest.param({"thinking": {"type": "between_tools"}}, 2, id="thinking"),
        pytest.param({"output_config": {"effort": "high"}}, 2, id="effort"),
        pytest.param({"messages": [{"role": "user", "content": [marked("Other. " + LONG)]}]}, 2, id="message"),
        pytest.param(
            {
                "messages": [
                    {"role": "user", "content": [marked()]},
                    {"role": "assistant", "content": [{"type": "image"}]},
                ]
            },
            2,
            id="image",
        ),
        pytest.param({"tool_choice": {"type": "auto"}}, 3, id="tool-choice-default-said"),
        pytest.param({"max_tokens": 50}, 3, id="max-tokens"),
    ],
)
def test_a_change_invalidates_its_level_and_those_after_it(ask, change, levels):
    ask({})
    assert ask(change).read_tokens == sum(LEVEL[:levels])


def test_citations_of_documents_invalidate_the_system_prompt(ask):
    def document(**more):
        source = {"type": "text", "media_type": "text/plain", "data": LONG}
        return {"messages": [{"role": "user", "content": [{"type": "document", "source": source, **more}]}]}

    ask(document())
    assert ask(document(citations={"enabled": True})).read_tokens == LEVEL[0]


def conversation(*contents):
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[index % 2], "content": list(each)} for index, each in enumerate(contents)]}


def test_appended_blocks_are_written_and_the_rest_is_read(ask):
    first = ask(conversation([marked("One. " + LONG)]))
    second = ask(conversation([text("One. " + LONG)], [text("Two.")], [marked("Three.")]))
    assert second.read_tokens == first.whole
    assert second.creation_tokens == estimated_tokens(text("Two.")) + estimated_tokens(text("Three."))
    assert second.input_tokens == 0


def test_blocks_after_the_last_mark_are_never_cached(ask):
    assert ask(conversation([marked(), text("Now.")])).input_tokens == estimated_tokens(text("Now."))


@pytest.mark.parametrize(("added", "is_found"), [(19, True), (20, False)])
def test_a_mark_looks_back_over_twenty_blocks(ask, added, is_found):
    whole = ask(conversation([marked("One. " + LONG)])).whole
    later = [text(f"{number}.") for number in range(added - 1)]
    use = ask(conversation([text("One. " + LONG), *later, marked("End.")]))
    assert use.read_tokens == (whole if is_found else sum(LEVEL[:2]))


def test_a_second_mark_extends_the_look_back(ask):
    whole = ask(conversation([marked("One. " + LONG)])).whole
    later = [text(f"{number}.") for number in range(30)]
    use = ask(conversation([marked("One. " + LONG), *later, marked("End.")]))
    assert use.read_tokens == whole


@pytest.mark.parametrize(
    ("model", "words", "is_cached"),
    [
        ("claude-sonnet-5-5", 420, True),
        ("claude-sonnet-5-5", 380, False),
        ("claude-haiku-4-5", 3000, False),
        ("claude-haiku-4-5", 3300, True),
    ],
)
def test_a_prefix_below_the_model_s_minimum_is_not_cached(ask, model, words, is_cached):
    body = {"model": model, "tools": [], "system": [marked("word " * words)], "messages": [], "thinking": None}
    use = ask(body)
    assert (use.creation_tokens > 0) is is_cached
    assert (ask(body).read_tokens > 0) is is_cached


@pytest.mark.parametrize(("mark", "ttl_s"), [(MARK, 300), (HOUR, 3600)])
def test_an_entry_lives_from_its_last_use(ask, clock, mark, ttl_s):
    body = {"tools": [], **conversation([marked(mark=mark)]), "system": []}
    assert ask(body).creation_1h_tokens == (LEVEL[2] if mark is HOUR else 0)
    for _ in range(2):
        clock.advance(ttl_s - 1)
        assert ask(body).read_tokens == LEVEL[2]
    clock.advance(ttl_s + 1)
    assert ask(body).read_tokens == 0


def test_workspaces_share_nothing(ask):
    ask({})
    assert ask({}, workspace="other").read_tokens == 0


def test_an_entry_can_be_read_once_its_response_has_begun(ask):
    ask({}, commits=False)
    assert ask({}).read_tokens == 0


def test_automatic_caching_marks_the_last_block_that_accepts_a_mark(ask):
    thought = {"type": "thinking", "thinking": "Hm", "signature": "s"}
    body = {**conversation([text()], [text("Two."), thought]), "cache_control": MARK}
    assert ask(body).input_tokens == estimated_tokens(thought)
    plain = {**BODY, "messages": [{"role": "user", "content": LONG}], "cache_control": MARK}
    assert ask(plain).input_tokens == 0


@pytest.mark.parametrize(("model", "keeps"), [("claude-sonnet-4-5", False), ("claude-sonnet-5-5", True)])
def test_older_models_drop_thinking_at_the_next_user_message(ask, model, keeps):
    thought = {"type": "thinking", "thinking": LONG, "signature": "s"}
    use = {"type": "tool_use", "id": "t", "name": "search_code", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    begun = {"model": model, "thinking": None, "output_config": None}
    whole = ask({**begun, **conversation([text()], [thought, use], [{**result, "cache_control": MARK}])}).whole
    later = ask({**begun, **conversation([text()], [thought, use], [result, marked("Go on.")])})
    assert later.read_tokens == (whole if keeps else sum(LEVEL[:2]))
