"""From the text of a scenario file to scenarios, or to all of its mistakes.

```yaml
tree: oracle                      # the tree of these scenarios, unless one names another; optional
scenarios:
  - name: The iteration limit ends the query
    limits: { max_iterations: 1 }
    model:
      - text: Half of it.
        signal: need_turn
    expect:
      reason: max_iterations
```
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_type_hints

from pydantic import ConfigDict, create_model

from bt_runtime.language.kind import Kind, NodeSettings
from bt_runtime.language.reading.settings import read_settings
from bt_runtime.text import Mistake, Place, format_mistakes, in_order
from bt_runtime.text.yaml_reader import YamlNode, read_yaml
from oracle.authoring.scenarios.expectations import EXPECTATIONS
from oracle.authoring.scenarios.forms import Record
from oracle.authoring.scenarios.model import Scenario
from oracle.core.errors import TreeAuthorError
from oracle.core.yaml_records import file_text


class _Written(NodeSettings):
    """What is written; lists are read as tuples."""

    model_config = ConfigDict(strict=False)


class _File(_Written):
    scenarios: tuple[Any, ...]
    about: Any = None
    tree: str = ""
    question: str = ""


def _model() -> type[_Written]:
    types = get_type_hints(Scenario, include_extras=True)
    written: dict[str, Any] = {name: (types[name], None) for name in types if name not in ("place", "places")}
    stated: dict[str, Any] = {name: (each.form, None) for name, each in EXPECTATIONS.items()}
    own = {"name": (str, ...), "expect": (create_model("Expect", __base__=Record, **stated), ...)}
    return create_model("Scenario", __base__=_Written, **(written | own))


_SCENARIO: Final = _model()


class ScenarioFileError(TreeAuthorError):
    """A scenario file with mistakes.

    Args:
        mistakes: all of them.
        text: the whole text of the file.
    """

    def __init__(self, mistakes: tuple[Mistake, ...], text: str) -> None:
        super().__init__(format_mistakes(mistakes, {mistakes[0].place.file: text}))
        self.mistakes = mistakes


def read_scenario_file(path: Path) -> tuple[Scenario, ...]:
    """The scenarios of a file.

    Raises:
        ScenarioFileError: it cannot be read, or has mistakes.
    """
    return from_yaml(read_scenario_text(path), file=str(path))


def read_scenario_text(path: Path) -> bytes:
    """The bytes of a scenario file, up to the largest size that is read.

    Raises:
        ScenarioFileError: it cannot be read, or is no file.
    """
    place = Place(str(path))
    return file_text(
        path, error=lambda why: ScenarioFileError((Mistake(place, f"the file cannot be read: {why}"),), "")
    )


def from_yaml(text: str | bytes, *, file: str = "<scenarios>") -> tuple[Scenario, ...]:
    """The scenarios of a text.

    Raises:
        ScenarioFileError: it has mistakes.
    """
    document = read_yaml(text, file=file)
    mistakes = list(document.mistakes)
    scenarios = () if document.root is None else tuple(_read(document.root, mistakes))
    if mistakes:
        raise ScenarioFileError(in_order(mistakes), document.text)
    return scenarios


def _read(root: YamlNode, mistakes: list[Mistake]) -> Iterator[Scenario]:
    """The scenarios of a file that have no mistakes."""
    file = _fields(_File, root, "a scenario file", mistakes)
    defaults = {name: getattr(file, name) for name in ("tree", "question") if file and name in file.model_fields_set}
    entry = root.data.get("scenarios") if isinstance(root.data, dict) else None
    items: Any = entry.node.data if entry is not None and isinstance(entry.node.data, tuple) else ()
    lines: dict[str, int] = {}
    for node in items:
        scenario = _fields(_SCENARIO, node, "a scenario", mistakes)
        if scenario is None:
            continue
        if scenario.name in lines:
            message = f"the name {scenario.name!r} is used on line {lines[scenario.name]} already"
            mistakes.append(Mistake(node.place, message, "names are unique in a file"))
        lines.setdefault(scenario.name, node.place.line)
        expect = node.data["expect"].node
        values = {name: getattr(scenario, name) for name in scenario.model_fields_set} | {"expect": expect.plain()}
        places = {at: place for name in expect.data for at, place in _places((name,), expect.data[name].node).items()}
        yield Scenario(**{**defaults, **values}, place=node.place, places=places)


def _fields(model: type[_Written], node: YamlNode, what: str, mistakes: list[Mistake]) -> Any:  # noqa: ANN401
    """What a mapping has, as the model; `None` if there are mistakes."""
    if not isinstance(node.data, dict):
        mistakes.append(Mistake(node.place, f"{what} must be a mapping, not {node.shape}"))
        return None
    kind = Kind("scenario", "action", model)
    return read_settings(
        kind, node.data, fill=YamlNode.plain, place=node.place, path="", mistakes=mistakes, subject=what
    )


def _places(path: tuple[str | int, ...], node: YamlNode) -> Mapping[tuple[str | int, ...], Place]:
    """The places of a value and its parts."""
    found = {path: node.place}
    if isinstance(node.data, dict):
        for name, entry in node.data.items():
            found |= {**_places((*path, name), entry.node), (*path, name): entry.place}
    elif isinstance(node.data, tuple):
        for index, item in enumerate(node.data):
            found |= _places((*path, index), item)
    return found
