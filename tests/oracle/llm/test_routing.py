"""Several providers as one model."""

import pytest

from oracle.llm.protocol import ModelError, ModelRequest, TextDelta
from oracle.llm.routing import ProviderModels, RoutedModel, joined, provider_of
from oracle.testing import ScriptedModel, ScriptedTurn


class Providers:
    """Scripted models, and what was asked of each."""

    def __init__(self, name="claude-sonnet-5-5", roles=None, *, has_claude=True):
        self.made, self.closed = {}, []
        others = ProviderModels({"ollama": self.maker("ollama"), "vllm": self.maker("vllm")}, roles or {})
        claudes = ProviderModels({"": self.maker("claude")} if has_claude else {})
        self.model = RoutedModel(name, joined([claudes, others]), on_load=self.load, waits_for_load=False)

    def load(self, _):
        """Stands for what listens."""

    def maker(self, provider):
        def make(on_load, waits_for_load):
            assert (on_load, waits_for_load) == (self.load, False)
            model = ScriptedModel([ScriptedTurn(text=provider)] * 9, has_web_search=provider == "claude")

            async def close():
                self.closed.append(provider)

            model.aclose = close
            self.made[provider] = model
            return model

        return make

    async def ask(self, model=None):
        request = ModelRequest("", ({"role": "user", "content": "Hi"},), model=model)
        events = [event async for event in self.model.stream(request)]
        said = "".join(event.text for event in events if isinstance(event, TextDelta))
        return said, self.made[said].requests[-1].model


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ollama/qwen3:8b", ("ollama", "qwen3:8b")),
        ("vllm/meta-llama/Llama-3.3-70B", ("vllm", "meta-llama/Llama-3.3-70B")),
        ("claude-opus-5", ("claude", "claude-opus-5")),
        ("anthropic/claude-opus-5", ("claude", "anthropic/claude-opus-5")),
        ("ollama/", ("claude", "ollama/")),
        ("/qwen3:8b", ("claude", "/qwen3:8b")),
        ("ollama", ("claude", "ollama")),
        (None, ("claude", "claude-sonnet-5-5")),
        ("fast", ("ollama", "qwen3:1b")),
        ("strong", ("claude", "claude-opus-5")),
    ],
)
async def test_the_name_of_a_model_says_who_answers(name, expected):
    providers = Providers(roles={"fast": "ollama/qwen3:1b", "strong": "claude-opus-5"})
    assert await providers.ask(name) == expected


async def test_a_provider_is_made_when_it_is_first_asked_and_all_are_closed():
    providers = Providers("ollama/qwen3:8b")
    assert (list(providers.made), providers.model.name) == (["ollama"], "ollama/qwen3:8b")
    assert (provider_of(providers.model), provider_of(Providers().model)) == ("ollama", "anthropic")
    assert not providers.model.has_web_search
    assert await providers.ask() == await providers.ask("ollama/qwen3:8b")
    await providers.ask("claude-opus-5")
    await providers.model.aclose()
    assert providers.closed == ["ollama", "claude"]


async def test_without_claude_its_models_are_not_available_and_the_others_answer():
    providers = Providers("ollama/qwen3:8b", has_claude=False)
    assert await providers.ask() == ("ollama", "qwen3:8b")
    with pytest.raises(ModelError, match="know the model 'claude-opus-5' \\(no provider that is set up has it"):
        await providers.ask("claude-opus-5")
