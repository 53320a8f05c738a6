"""Every setting with its default and its meaning, for help and documentation."""

from pathlib import Path
from typing import NamedTuple

from oracle.core.features import features
from oracle.decision import AgentConfig
from oracle.server.settings.fields import Settings, ceiling_name, variable_of


class SettingRow(NamedTuple):
    """A line of the table of settings."""

    name: str
    default: str
    meaning: str


_SDK_ROWS = (
    SettingRow("ANTHROPIC_API_KEY", "", "Claude's API key; read by the SDK, never stored."),
    SettingRow("ANTHROPIC_AUTH_TOKEN", "", "A bearer token in place of the key, for gateways."),
    SettingRow("ANTHROPIC_BASE_URL", "", "Another address of the API, such as a gateway."),
)


def settings_table() -> tuple[SettingRow, ...]:
    """Every setting: those of all features, the ceilings last, then those that the provider's SDK reads."""
    of_features = (each.name for feature in features() for each in feature.settings)
    last = dict.fromkeys(of_features, 1) | dict.fromkeys(map(ceiling_name, AgentConfig.model_fields), 2)
    ours = (
        SettingRow(variable_of(name), _shown_default(field.default), field.description or "")
        for name, field in sorted(Settings.model_fields.items(), key=lambda item: last.get(item[0], 0))
    )
    return (*ours, *_SDK_ROWS)


def _shown_default(default: object) -> str:
    if isinstance(default, bool):
        return str(int(default))
    if isinstance(default, tuple):
        return ",".join(default)
    return str(default) if isinstance(default, str | int | float | Path) else ""
