"""The providers whose models can answer: the usual local servers, OpenAI, and those of the operator's file.

```yaml
providers:
  gpu: { base_url: "http://10.0.0.5:8000/v1", context_tokens: 32768 }
  openrouter: { base_url: "https://openrouter.ai/api/v1", key_env: OPENROUTER_API_KEY }
roles:
  fast: ollama/qwen3:8b
  strong: claude-opus-5
```
"""

import os
import re
from collections.abc import Collection, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from bt_runtime.language.kind import NodeSettings
from bt_runtime.text import did_you_mean, listing
from bt_runtime.text.yaml_reader import Entry, YamlNode
from oracle.core.yaml_records import Reader, read_file
from oracle.llm.deferred import DeferredModel
from oracle.llm.protocol import Model, OnLoad
from oracle.llm.routing import ProviderModels
from oracle.server.settings.fields import split_address
from oracle.server.settings.reading import SettingsError


class Provider(NodeSettings):
    """One provider.

    Args:
        kind: the format that it speaks.
        base_url: its address, with the `/v1` that most have; a built-in provider has one.
        key_env: the variable of the environment that holds its key; `None`: it needs none.
        context_tokens: how much its models read and write together; `None`: the server's word is waited for.
        max_output_tokens: the most that a turn of its models may say.
        system_messages: whether a conversation may have system messages after the first one.
        silence_s: the connection counts as broken after this time without data; a local server may have to read a long
            prompt first.
        body: further fields of each request, such as `reasoning_effort`.
    """

    kind: Literal["openai_compatible"] = "openai_compatible"
    base_url: str = ""
    key_env: str | None = None
    context_tokens: int | None = Field(default=None, ge=1_000, le=100_000_000)
    max_output_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    system_messages: bool = False
    silence_s: float = Field(default=300.0, gt=0, le=3_600, allow_inf_nan=False)
    body: dict[str, Any] = Field(default_factory=dict)


BUILT_IN: Final[Mapping[str, Provider]] = {
    "ollama": Provider(base_url="http://127.0.0.1:11434/v1"),
    "lmstudio": Provider(base_url="http://127.0.0.1:1234/v1"),
    "llamacpp": Provider(base_url="http://127.0.0.1:8080/v1"),
    "vllm": Provider(base_url="http://127.0.0.1:8000/v1"),
    "openai": Provider(base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY", system_messages=True),
}
"""The usual local servers at their own default addresses, and OpenAI."""


_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_NAME_HINT: Final = "up to 32 lower-case letters, digits, '-' and '_', a letter first"
_VARIABLE: Final = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_KEY_HINT: Final = "name the variable of the environment that holds it, as 'key_env: OPENROUTER_API_KEY'"
_LIKE_A_KEY: Final = re.compile(r"key|secret|password|auth|headers|token(?!s)", re.IGNORECASE)
_MOST: Final = 100


def models_of(named: Collection[str], file: Path | None, *, may_have_keys: bool) -> ProviderModels:
    """The models of the file's providers, and of the built-in ones that are used.

    A built-in provider is used where the operator's settings or the file name one of its models, and not because a
    request does.

    Args:
        named: the models that the operator's settings name.
        file: the file of providers; `None`: there is none.
        may_have_keys: the operator has named the file; one that came with a folder can have no keys sent.

    Raises:
        SettingsError: the file cannot be used, or the models need a package that is not installed.
    """
    given, roles = ({}, {}) if file is None else read_providers(file, may_have_keys=may_have_keys)
    names = [name.partition("/")[0] for name in (*named, *roles.values())]
    used = {**{name: BUILT_IN[name] for name in names if name in BUILT_IN}, **given}
    if used and find_spec("openai") is None:
        how = "pip install 'oracle-bt[openai]' (in a checkout see docs/models.md)"
        raise SettingsError(f"the models of {', '.join(used)} need the extra: {how}")
    makers = {name: partial(_deferred, name, provider) for name, provider in used.items()}
    windows = {name: provider.context_tokens for name, provider in used.items() if provider.context_tokens}
    return ProviderModels(makers, roles, windows=windows)


def read_providers(file: Path, *, may_have_keys: bool = True) -> tuple[Mapping[str, Provider], Mapping[str, str]]:
    """The providers of a file by their names, and the names of models by their roles.

    Raises:
        SettingsError: it cannot be read, or has mistakes; the message has the places of all of them.
    """
    read = partial(_read, may_have_keys=may_have_keys)
    return read_file(file, read, what="the file of providers", error=SettingsError)


def _read(reader: Reader, root: YamlNode, *, may_have_keys: bool) -> tuple[Mapping[str, Provider], Mapping[str, str]]:
    hint = "write 'providers:' and their names below"
    fields = reader.fields(root, ("providers", "roles"), what="the file", hint=hint)
    given: dict[str, Provider] = {}
    listed = fields.get("providers")
    entries = listed.node.data if listed is not None and isinstance(listed.node.data, dict) else {}
    if listed is not None:
        _refuse_keys(reader, entries, may_have_keys=may_have_keys)
        found = reader.settings(
            listed, Provider, noun="provider", of="the provider", names=_NAME, hint=_NAME_HINT, most=_MOST
        )
        given = {name: _whole(reader, entries[name], name, provider) for name, provider in found.items()}
    return given, _roles(reader, fields["roles"], {*BUILT_IN, *entries}) if "roles" in fields else {}


def _refuse_keys(reader: Reader, providers: Mapping[str, Entry], *, may_have_keys: bool) -> None:
    """Report keys, which no message may show, and take them out of what is read."""
    for fields in [each.node.data for each in providers.values() if isinstance(each.node.data, dict)]:
        further = fields["body"].node.data if "body" in fields else None
        for of in (fields, further if isinstance(further, dict) else {}):
            for name in [name for name in of if _LIKE_A_KEY.search(name) and name not in Provider.model_fields]:
                reader.hides_source = True
                reader.report(of.pop(name), f"{name[:80]!r}: this file must not contain keys", _KEY_HINT)
        variable = fields.get("key_env")
        if variable is None:
            continue
        if not _VARIABLE.fullmatch(str(variable.node.data)):
            reader.hides_source = True
            reader.report(fields.pop("key_env"), "'key_env' is not the name of a variable", _KEY_HINT)
        elif not may_have_keys:
            hint = "set ORACLE_PROVIDERS to the path of this file, in the environment"
            reader.report(variable, "only a file that ORACLE_PROVIDERS names can use keys", hint)


def _whole(reader: Reader, entry: Entry, name: str, provider: Provider) -> Provider:
    """The provider with the address; a built-in one may leave it out, and keeps its key and the rest then."""
    if not provider.base_url and name in BUILT_IN:
        return BUILT_IN[name].model_copy(update=provider.model_dump(exclude_unset=True))
    if not _is_address(provider.base_url):
        problem = "must be like" if provider.base_url else "is missing, such as"
        hint = None
        if "@" in provider.base_url:
            reader.hides_source, hint = True, _KEY_HINT
        reader.report(entry, f"the 'base_url' of {name!r} {problem} https://example.com/v1", hint)
    return provider


def _is_address(url: str) -> bool:
    parts = split_address(url)
    return (
        parts.scheme in {"http", "https"}
        and bool(parts.hostname)
        and url.isascii()
        and not (parts.username or parts.password or parts.query or parts.fragment)
    )


def _roles(reader: Reader, entry: Entry, providers: Collection[str]) -> Mapping[str, str]:
    if not isinstance(entry.node.data, dict):
        reader.report(entry, f"'roles' must be a mapping, not {entry.node.shape}", "such as 'fast: ollama/qwen3:8b'")
        return {}
    found = {}
    for name, each in entry.node.data.items():
        model = each.node.plain()
        if not _NAME.fullmatch(name):
            reader.report(each, f"{name[:80]!r} cannot name a role", _NAME_HINT)
        elif not isinstance(model, str) or not model.strip() or model in entry.node.data:
            reader.report(each, f"the role {name!r} must be the name of a model", "such as 'ollama/qwen3:8b'")
        elif model == "offline":
            message = f"the role {name!r} cannot be the offline model, which answers alone or not at all"
            reader.report(each, message, "name a provider's model; for the offline model alone set ORACLE_LLM=offline")
        elif "/" in model and (provider := model.partition("/")[0]) not in providers:
            near = did_you_mean(provider, providers) or f"the providers are {listing(providers, most=30)}"
            reader.report(each, f"there is no provider {provider[:80]!r}", near)
        else:
            found[name] = model
    return found


def _deferred(name: str, provider: Provider, on_load: OnLoad, waits_for_load: bool) -> DeferredModel:  # noqa: FBT001  a maker
    """The provider's model, with its SDK imported when it is first needed."""

    def make() -> Model:
        from oracle.features.openai_compatible.model import CompatibleModel, RetryPolicy  # noqa: PLC0415  imports the SDK

        key = os.environ.get(provider.key_env, "").strip() if provider.key_env else None
        retry = RetryPolicy(waits_for_load=waits_for_load)
        return CompatibleModel(name, provider, api_key=key, retry=retry, on_load=on_load)

    return DeferredModel(name, make, has_web_search=False)
