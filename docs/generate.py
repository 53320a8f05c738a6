"""Writes the parts of the documentation that can lie: palette of node kinds, schema of tree files, settings.

`make docs` runs it; a test compares the files with what it would write.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from bt_runtime import tree_schema
from bt_runtime.palette import render_palette
from oracle.nodes import REGISTRY
from oracle.settings import settings_table

ROOT = Path(__file__).parents[1]
_SETTINGS = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.DOTALL)


def generated() -> Mapping[Path, str]:
    """Every file with generated parts, as it should be."""
    return {
        ROOT / "docs" / "palette.md": render_palette(REGISTRY),
        ROOT / "trees" / "tree.schema.json": json.dumps(tree_schema(REGISTRY), indent=2, ensure_ascii=False) + "\n",
        ROOT / "README.md": _with_settings((ROOT / "README.md").read_text(encoding="utf-8")),
    }


def _with_settings(readme: str) -> str:
    rows = "".join(f"| `{row.name}` | {_cell(row.default)} | {row.meaning} |\n" for row in settings_table())
    table = f"| variable | default | meaning |\n|---|---|---|\n{rows}"
    return _SETTINGS.sub(lambda match: match[1] + table + match[2], readme)


def _cell(default: str) -> str:
    return f"`{default}`" if default else ""


def main() -> None:
    """Write what has changed."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")  # noqa: T201  a script that says what it did


if __name__ == "__main__":
    main()
