"""Reads a domain from a folder: `domain.yaml`, `prompts`, and if they are there `tools.py` and `trees`.

```yaml
domain: shop
types:
  order:
    needs: [orders]
    words: { parcel: 1, "where is": 2 }
    examples: ["When does order 1042 arrive?"]
    suggestions: [Where is my order 1042?]
```
"""

import re
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from bt_runtime.language.kind import NodeSettings
from bt_runtime.text.yaml_reader import YamlNode
from oracle.core.sources import QueryTypes
from oracle.core.yaml_records import Reader, read_file
from oracle.domains.domain import Domain, DomainError, Suggestion
from oracle.domains.words import WordClassifier

FILE: Final = "domain.yaml"
_NAME: Final = re.compile(r"^[a-z][a-z0-9_-]{0,31}$")
_NAMES: Final = "up to 32 lower-case letters, digits, '-' and '_', a letter first"
_MOST_TYPES: Final = 30
_Weight = Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)]
_Group = Annotated[str, Field(pattern=_NAME)]
_Word = Annotated[str, Field(min_length=1, max_length=80)]
_Question = Annotated[str, Field(min_length=1, max_length=200)]


class TypeSettings(NodeSettings):
    """A type of queries.

    Args:
        needs: the groups of tools that its queries are offered, and `write` for tools that write.
        words: words and phrases that speak for it, with weights of 1 or so.
        examples: questions of this type.
        suggestions: questions of this type for an empty page, which has the first four of the domain.
    """

    needs: tuple[_Group, ...] = Field(default=(), max_length=20)
    words: dict[_Word, _Weight] = Field(default_factory=dict, max_length=500)
    examples: tuple[str, ...] = Field(default=(), max_length=200)
    suggestions: tuple[_Question, ...] = Field(default=(), max_length=4)


def read_domain(folder: Path) -> Domain:
    """The domain of a folder; its Python is imported.

    Raises:
        DomainError: the folder cannot be used; the message has the places of all mistakes.
    """
    if not (folder / FILE).is_file():
        what = f"has no {FILE}" if folder.is_dir() else "does not exist"
        raise DomainError(f"the domain's folder {str(folder)!r} {what}; `oracle domain new NAME` makes one")
    name, settings = read_file(folder / FILE, _read, what="the domain", error=DomainError)
    if not (folder / "prompts" / "base.md").is_file():
        raise DomainError(
            f"{str(folder / 'prompts' / 'base.md')!r} is missing: it says who the assistant is, and what a good answer "
            "is; `oracle domain new NAME` writes one to begin with"
        )
    types = QueryTypes({each: of_type.needs for each, of_type in settings.items()})
    words = {each: of_type.words for each, of_type in settings.items()}
    classifier = WordClassifier(types, words, {each: of_type.examples for each, of_type in settings.items()})
    tools = folder / "tools.py"
    return Domain(
        name=name,
        types=types,
        classifier=lambda: classifier,
        suggestions=tuple(Suggestion(text, each) for each, of_type in settings.items() for text in of_type.suggestions),
        examples=tuple(of_type.examples[0] for of_type in settings.values() if of_type.examples),
        folder=folder,
        modules=(_imported(tools),) if tools.is_file() else (),
    )


def _read(reader: Reader, root: YamlNode) -> tuple[str, dict[str, TypeSettings]]:
    """The domain's name, and the settings of its types."""
    hint = "write 'domain:' with its name, and 'types:' with the types of questions below"
    fields = reader.fields(root, ("domain", "types"), what="the domain", required=("domain", "types"), hint=hint)
    settings: dict[str, TypeSettings] = {}
    if "types" in fields:
        settings = reader.settings(
            fields["types"], TypeSettings, noun="type", of="the type", names=_NAME, hint=_NAMES, most=_MOST_TYPES
        )
        if not settings and not reader.mistakes:
            reader.report(fields["types"], "'types' has no type", "name at least one, such as 'chat: {}'")
    name = fields["domain"].node.plain() if "domain" in fields else ""
    if "domain" in fields and not (isinstance(name, str) and _NAME.fullmatch(name)):
        reader.report(fields["domain"], f"{name!r:.80} cannot name a domain", _NAMES)
    return str(name), settings


def _imported(file: Path) -> str:
    """Import the domain's Python; the name of the module, which is the file's path.

    Raises:
        DomainError: it cannot be imported; the message has the line.
    """
    name = str(file)
    spec = spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018  it ends with `.py`
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == name]
        line = error.lineno if isinstance(error, SyntaxError) else next(iter(lines), None)
        raise DomainError(f"{name}:{line or 1}: {type(error).__name__}: {error}"[:1_000]) from error
    return name
