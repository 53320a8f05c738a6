"""Writes the parts of the documentation that can lie: node kinds, checks, scenarios, rules, schema, settings.

`make docs` runs it; a test compares the files with what it would write.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

from bt_runtime import TreeFileError, TreeLibrary, format_mistakes, tree_schema
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.files import codes_of
from bt_runtime.drawing.grammar import TEMPLATE_MEANINGS
from bt_runtime.drawing.palette import code, type_words
from bt_runtime.language.kind import Category, Key, Kind, Slot, argument_meanings
from bt_runtime.language.registry import Registry
from bt_runtime.language.rule import EventType
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.expectations import EXPECTATIONS, Equal, Listed, Requests
from oracle.features.scenarios.model import Scenario, ToolAnswer, ToolScript, Turn
from oracle.features.verifier.properties import BUILT_IN
from oracle.server.settings.table import SettingRow, settings_table

ROOT = Path(__file__).parents[1]
TESTING = ROOT / "docs" / "internals" / "testing.md"
MISTAKEN = "- llm_turn: {timeout: 120}"


def generated() -> Mapping[Path, str]:
    """Every file with generated parts, as it should be."""
    return {
        ROOT / "docs" / "nodes.md": _nodes((ROOT / "docs" / "nodes.md").read_text(encoding="utf-8")),
        ROOT / "docs" / "testing.md": _testing((ROOT / "docs" / "testing.md").read_text(encoding="utf-8")),
        TESTING: _testing(TESTING.read_text(encoding="utf-8")),
        ROOT / "docs" / "checks.md": render_checks(codes_of(REGISTRY)),
        ROOT / "trees" / "tree.schema.json": json.dumps(tree_schema(REGISTRY), indent=2, ensure_ascii=False) + "\n",
        ROOT / "docs" / "operating.md": _operating((ROOT / "docs" / "operating.md").read_text(encoding="utf-8")),
        ROOT / "docs" / "start.md": _start((ROOT / "docs" / "start.md").read_text(encoding="utf-8")),
    }


def mistaken(tree: str) -> str:
    """The text of `trees/oracle.yaml` with a mistake in it."""
    return re.sub(r"- llm_turn\b.*", MISTAKEN, tree, count=1)


def _start(text: str) -> str:
    return _with_parts(text, mistake=_mistake())


def _operating(text: str) -> str:
    return _with_parts(text, settings=_settings(settings_table()))


def _nodes(text: str) -> str:
    return _with_parts(text, kinds=render_kinds(REGISTRY))


def _testing(text: str) -> str:
    """What scenarios, rules and the verifier have. A field's meaning is from the `Args` of its class."""
    return _with_parts(
        text,
        scenario=_fields(Scenario, without=("place", "places")),
        turn=_fields(Turn, usage="tokens"),
        tool=_fields(ToolScript),
        answer=_fields(ToolAnswer),
        expectations=_meanings({name: _expectation(each) for name, each in EXPECTATIONS.items()}),
        request=_fields(get_args(Requests.form)[0]),
        events=_events(REGISTRY.events.values()),
        templates=_meanings(TEMPLATE_MEANINGS, "template"),
        properties=_meanings({each.name: each.text for each in BUILT_IN}, "property"),
    )


def _fields(described: type, without: Sequence[str] = (), **written: str) -> str:
    meanings = argument_meanings(described)
    return _meanings({written.get(name, name): text for name, text in meanings.items() if name not in without})


def _expectation(each: object) -> str:
    return each.meaning if isinstance(each, Equal | Listed) else type(each).__doc__ or ""


def _meanings(meanings: Mapping[str, str], head: str = "field") -> str:
    rows = [(f"`{name}`", (text[:1].upper() + text[1:]).strip().rstrip(".")) for name, text in meanings.items()]
    return _table((head, "meaning"), rows) + "\n"


def _events(events: Iterable[EventType]) -> str:
    rows = [
        (
            f"`{event.name}`",
            event.description.rstrip("."),
            ", ".join(f"`{name}`" for name in (*event.fields, *event.choices)),
        )
        for event in events
    ]
    return _table(("event", "when", "values in `where`"), rows) + "\n"


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


# The node kinds: everything comes from the registry, so the page describes only what exists. The contract and the
# snippet are from a kind's docstring, the meaning of a setting from the `Args` of its settings class.

_HEADINGS: Mapping[Category, tuple[str, str]] = {
    "composite": ("Composites", "Composites have several children and decide which of them to tick."),
    "decorator": ("Decorators", "Decorators have one child and change when it runs or what its result means."),
    "condition": ("Conditions", "Conditions return SUCCESS or FAILURE at once and change nothing."),
    "guard": (
        "Guards",
        "Guards decide whether the run may continue. The first line has the reason that they write.",
    ),
    "action": ("Actions", "Actions do the work."),
}
_SNIPPET = re.compile(r"^```yaml\n.*?^```$", re.DOTALL | re.MULTILINE)


def render_kinds(registry: Registry) -> str:
    """All kinds as Markdown, by category, in the order of the registry, then all blackboard keys."""
    parts: list[str] = []
    for category, (heading, meaning) in _HEADINGS.items():
        kinds = [kind for kind in registry.kinds.values() if kind.category == category]
        if kinds:
            parts += [f"## {heading}\n\n{meaning}\n", *map(_kind_section, kinds)]
    if registry.keys:
        parts.append(_keys_section(registry.keys.values()))
    return "\n".join(parts)


def _kind_section(kind: Kind) -> str:
    snippet = _SNIPPET.search(kind.doc)
    contract = _SNIPPET.sub("", kind.doc).strip()
    blocks = [f"### `{kind.name}`", contract]
    rows = [*_setting_rows(kind), *(_slot_row(kind, slot) for slot in kind.slots)]
    if rows:
        blocks.append(_table(("setting", "value", "default", "meaning"), rows))
    if snippet is not None and rows:
        blocks.append(snippet[0])
    return "\n\n".join(blocks) + "\n"


def _setting_rows(kind: Kind) -> Iterator[tuple[str, ...]]:
    meanings = argument_meanings(kind.settings)
    for name, field in kind.settings.model_fields.items():
        written = field.alias or name
        default = "required" if field.is_required() else code(field.get_default(call_default_factory=True))
        words = type_words(field).replace(" or ", "/")
        yield _marked(kind, written), words, default, meanings.get(name, "")


def _slot_row(kind: Kind, slot: Slot) -> tuple[str, ...]:
    return (
        _marked(kind, slot.name),
        "mapping of node" if slot.keyed else ("nodes" if slot.many else "node"),
        "required" if slot.required else "none",
        "",
    )


def _marked(kind: Kind, name: str) -> str:
    return f"`{name}`*" if name == kind.shorthand else f"`{name}`"


def _keys_section(keys: Iterable[Key]) -> str:
    rows = [(f"`{key.name}`", _key_words(key), code(key.default), key.description) for key in keys]
    table = _table(("key", "type", "default", "meaning"), rows)
    introduction = (
        "Expressions can read these keys. A tree can write only `hint`, and declares more keys under `blackboard:`."
    )
    return f"## Blackboard keys\n\n{introduction}\n\n{table}\n"


def _key_words(key: Key) -> str:
    return key.type if key.values is None else "/".join(map(code, key.values))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_flat(text) for text in row] for row in rows)]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# The checks: what a code means and what to do is declared with it, the examples are those of the tests.

_EXAMPLES = ROOT / "tests" / "data" / "checks"
_SHOWN = frozenset(
    {
        *("condition-always-true", "guard-as-step", "key-never-written", "no-reason"),
        *("stop-ignored", "unbounded-turns", "unknown-key", "unknown-setting"),
        *("unreachable", "unread-results"),
    }
)
"""The codes that authors meet most often; the page has an example of each."""
_CHECKS = """\
# Checks

`oracle trees check`, the console's editor and the language server report problems in tree files. Each problem has a
code. This page lists all codes with their meaning and the usual fix; `oracle trees check --explain CODE` prints the
same text. `make docs` generates the page from the declarations of the checks.

- An **error** keeps the tree from being used.
- A **warning** is about a tree that runs, but probably not as you intend. With `--strict` the command exits with 1.

The checks follow the control flow of a tree and its subtrees before anything runs: which nodes can be reached, with
which blackboard values and with which results. Each file is checked by itself. In a tree with `internal: true`, the
values that come from outside are unknown.

## Silence a warning

If a warning is wrong for your tree, add a comment with the code and a reason. Write it at the end of the warning's line
or alone on the line above. Separate several codes with commas. Errors cannot be silenced.

```yaml
tree: experiment
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { tools: false }
    - stop: completed
    # silence stop-ignored: kept for the next experiment
    - stop: stuck
```
"""


def render_checks(codes: Mapping[str, Code]) -> str:
    """All codes as Markdown, by name; a heading for each, so that a link can lead to it."""
    parts = [_CHECKS]
    for heading, severity in (("Warnings", "warning"), ("Errors", "error")):
        found = sorted((code for code in codes.values() if code.severity == severity), key=lambda code: code.name)
        parts += [f"## {heading}\n", *map(_code_section, found)]
    return "\n".join(parts)


def _code_section(code: Code) -> str:
    text = f"### {code.name}\n\n{code.summary} {code.fix}\n"
    if code.name in _SHOWN:
        bad, good = (_EXAMPLES / f"{code.name}.yaml").read_text(encoding="utf-8").split("---\n")[:2]
        text += f"\n```yaml\n{bad}```\n\nBetter:\n\n```yaml\n{good}```\n"
    return text


def main() -> None:
    """Write what has changed."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")  # noqa: T201  a script that says what it did


if __name__ == "__main__":
    main()
