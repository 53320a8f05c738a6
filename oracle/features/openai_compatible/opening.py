"""Finds the models of other providers; their settings are read only if there may be any."""

from typing import Final

from oracle.llm.routing import ProviderModels
from oracle.server.settings.fields import Settings

DEFAULT_FILE: Final = "providers.yaml"
"""In the data folder; it is read where the operator names no other."""


def other_models(settings: Settings) -> ProviderModels:
    """The models that the settings can name besides Claude's.

    Raises:
        SettingsError: the file of providers cannot be used, or the models need a package that is not installed.
    """
    named = (settings.model, *settings.models, settings.auxiliary_model or "")
    default = settings.data_dir / DEFAULT_FILE
    file, is_trusted = (default, False) if settings["providers"] is None else (settings["providers"], True)
    if not is_trusted and not file.is_file():
        if not any("/" in name for name in named):
            return ProviderModels()
        file = None
    from oracle.features.openai_compatible.providers import models_of  # noqa: PLC0415  most starts do not need it

    return models_of(named, file, may_have_keys=is_trusted)
