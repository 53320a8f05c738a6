"""Writes the parts of the documentation that can lie: palette, schema of tree files, settings.

`make docs` runs it; a test compares the files with what it would write.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from bt_runtime import TreeFileError, TreeLibrary, format_mistakes, tree_schema
from bt_runtime.drawing.palette import render_palette
from oracle.agent.nodes import REGISTRY
from oracle.server.settings.table import SettingRow, settings_table

ROOT = Path(__file__).parents[1]
MISTAKEN = "- llm_turn: {timeout: 120}"
FIRST_SETTINGS = (
    *("ANTHROPIC_API_KEY", "ORACLE_LLM", "ORACLE_MODEL", "ORACLE_PROJECT_DIR"),
    *("ORACLE_VAULT_DIR", "ORACLE_TREES_DIR", "ORACLE_DATA_DIR", "ORACLE_TOKENS"),
)
"""What a first user needs, for the README; all of them are in `docs/operating.md`."""


def generated() -> Mapping[Path, str]:
    """Every file with generated parts, as it should be."""
    return {
        ROOT / "docs" / "palette.md": render_palette(REGISTRY),
        ROOT / "trees" / "tree.schema.json": json.dumps(tree_schema(REGISTRY), indent=2, ensure_ascii=False) + "\n",
        ROOT / "docs" / "operating.md": _operating((ROOT / "docs" / "operating.md").read_text(encoding="utf-8")),
        ROOT / "README.md": _readme((ROOT / "README.md").read_text(encoding="utf-8")),
    }


def mistaken(tree: str) -> str:
    """The text of `trees/oracle.yaml` with a mistake in it."""
    return re.sub(r"- llm_turn\b.*", MISTAKEN, tree, count=1)


def _readme(text: str) -> str:
    rows = {row.name: row for row in settings_table()}
    return _with_parts(text, settings=_settings(rows[name] for name in FIRST_SETTINGS), mistake=_mistake())


def _operating(text: str) -> str:
    return _with_parts(text, settings=_settings(settings_table()))


def _with_parts(text: str, **parts: str) -> str:
    for part, content in parts.items():
        text = re.sub(rf"(?s)(?<=<!-- {part} -->\n).*?(?=<!-- /{part} -->)", lambda _, new=content: new, text)
    return text


def _mistake() -> str:
    """What the check says to it."""
    folder = ROOT / "trees"
    text = mistaken((folder / "oracle.yaml").read_text(encoding="utf-8"))
    try:
        TreeLibrary([folder], registry=REGISTRY).read_text(text, file="my-trees/oracle.yaml", name="oracle")
    except TreeFileError as error:
        return f"```\n{format_mistakes(error.mistakes, error.sources)}\n```\n"
    raise AssertionError(f"{MISTAKEN!r} is no mistake")


def _settings(shown: Iterable[SettingRow]) -> str:
    rows = "".join(f"| `{row.name}` | {_cell(row.default)} | {row.meaning} |\n" for row in shown)
    return f"| variable | default | meaning |\n|---|---|---|\n{rows}"


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
