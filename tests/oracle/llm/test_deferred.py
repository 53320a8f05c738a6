"""The provider's model: its SDK is imported late, and what is wrong with its settings is found early."""

import subprocess
import sys

import pytest

from oracle.features.claude.model import AnthropicModel
from oracle.llm.deferred import DeferredModel
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import ModelRequest, TextDelta
from oracle.llm.routing import prepare
from oracle.server.settings.reading import SettingsError, read_settings
from oracle.server.wiring.agent import build_model
from oracle.testing import ScriptedModel, ScriptedTurn
from tests.support.provider import StandInProvider

QUESTION = ModelRequest("", ({"role": "user", "content": "Hello?"},))
_IMPORTED = """
import sys
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import build_model
build_model(Settings(llm="anthropic"))
print("anthropic" in sys.modules)
"""


@pytest.mark.parametrize(
    ("environ", "is_imported"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, False),
        ({"ANTHROPIC_AUTH_TOKEN": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, False),
        ({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: a"}, True),
    ],
    ids=["a key", "a gateway", "more than a key"],
)
@pytest.mark.long("starts a process")
def test_the_sdk_is_imported_at_once_only_where_it_may_refuse_its_settings(tmp_path, environ, is_imported):
    command = [sys.executable, "-c", _IMPORTED]
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(is_imported)


def test_credentials_that_are_not_there_are_refused_at_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "missing")
    with pytest.raises(SettingsError):
        build_model(read_settings(llm="anthropic"))


async def text_of(model):
    return "".join([event.text async for event in model.stream(QUESTION) if isinstance(event, TextDelta)])


@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "not prepared"])
async def test_a_request_is_answered_whether_the_sdk_is_there_or_not(monkeypatch, is_prepared):
    async with StandInProvider([ScriptedTurn(text="Hello."), ScriptedTurn(text="Again.")]) as provider:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        model = build_model(read_settings())
        if is_prepared:
            assert isinstance(await prepare(model), AnthropicModel)
        assert [await text_of(model), await text_of(model)] == ["Hello.", "Again."]
        await model.aclose()


async def test_a_model_that_is_not_used_is_closed_without_the_sdk():
    model = DeferredModel("claude-opus-5-5", OfflineModel, has_web_search=True)
    await model.aclose()
    assert model._model is None


async def test_an_import_that_failed_is_tried_again_with_the_next_request():
    tries = 0

    def make():
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ImportError("too many open files")
        return ScriptedModel([ScriptedTurn(text="Hello.")])

    model = DeferredModel("claude-opus-5-5", make, has_web_search=True)
    with pytest.raises(ImportError):
        await text_of(model)
    assert await text_of(model) == "Hello."
