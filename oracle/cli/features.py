"""`oracle features`: what can be left out of an installation, and what each feature adds."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from bt_runtime.text.phrases import counted
from oracle.cli.text import one_line
from oracle.core.features import VARIABLE, Feature, chosen_features, features, installed_features


@click.command("features")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def features_(*, as_json: bool) -> int:
    """Print the features of this installation: what each one adds, what it needs, and how much code it has.

    ORACLE_FEATURES=-shadow,-webhooks leaves features out, with their calls, commands and settings.
    """
    used = {feature.name for feature in features(chosen_features())}
    rows = [
        {"name": name, "summary": feature.summary, "is_used": name in used, "adds": list(_added(feature))}
        | {"needs": list(feature.needs), "package": home, "lines": _lines(home)}
        for name, (feature, home) in installed_features().items()
    ]
    if as_json:
        click.echo(json.dumps({"features": rows}, ensure_ascii=False, indent=2))
        return 0
    for row in rows:
        for line in _shown(row):
            click.echo(line)
    return 0


def _added(feature: Feature) -> Iterator[str]:
    yield from (f"oracle {path}" for path in feature.commands)
    yield from feature.adapters
    yield from (f"calls of {place.partition(':')[0]}" for place in feature.calls)
    for name in ("tools", "kinds"):
        if (place := getattr(feature, name)) is not None:
            yield f"{name} of {place}"
    yield from (f"ORACLE_{setting.name.upper()}" for setting in feature.settings)


def _shown(row: dict[str, Any]) -> Iterator[str]:
    left_out = "" if row["is_used"] else f"  (left out by {VARIABLE})"
    yield f"{row['name']}  {one_line(row['summary'])}{left_out}"
    yield f"    {one_line(row['package'])}, {counted(row['lines'], 'line')} of code"
    if row["adds"]:
        yield f"    adds {one_line(', '.join(row['adds']), longest=400)}"
    if row["needs"]:
        yield f"    needs {', '.join(row['needs'])}"


def _lines(home: str) -> int:
    """The lines of a package or module that are neither blank nor comments."""
    origin = Path(str(import_module(home).__file__))
    files = origin.parent.rglob("*.py") if origin.name == "__init__.py" else [origin]
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return sum(line.strip()[:1] not in ("", "#") for text in texts for line in text.splitlines())
