"""How a stated text is compared: exactly, or by what it contains.

A plain text must be equal. A mapping states parts: `{contains: a}` or `{contains: [a, b]}` (in this order), `lacks`
(one or several), `starts`, `ends`.
"""

from typing import Final

from bt_runtime.text.yaml_reader import YamlNode
from oracle.scenarios.mistakes import Reader
from oracle.scenarios.model import Json

PARTS: Final = ("contains", "lacks", "starts", "ends")


def check_text(node: YamlNode, reader: Reader, *, what: str) -> None:
    """Report what is wrong with a stated text."""
    if isinstance(node.data, str):
        return
    if not isinstance(node.data, dict):
        reader.report(node, f"{what} must be text, or what it contains, not {node.shape}", "such as {contains: auth}")
        return
    for name, entry in reader.fields(node, PARTS, what=what).items():
        many = isinstance(entry.node.data, tuple) and name in ("contains", "lacks")
        for item in entry.node.data if many and isinstance(entry.node.data, tuple) else (entry.node,):
            reader.text(item, what=f"{name!r}")


def text_matches(stated: Json, got: str) -> bool:
    """Whether a text is as stated."""
    if isinstance(stated, str):
        return stated == got
    if not got.startswith(stated.get("starts", "")) or not got.endswith(stated.get("ends", "")):
        return False
    if any(part in got for part in _listed(stated.get("lacks", ()))):
        return False
    at = 0
    for part in _listed(stated.get("contains", ())):
        found = got.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def values_match(stated: Json, got: Json) -> bool:
    """Whether a value is as stated: mappings may have more entries, everything else is equal."""
    if isinstance(stated, dict) and isinstance(got, dict):
        return all(name in got and values_match(value, got[name]) for name, value in stated.items())
    if isinstance(stated, list | tuple) and isinstance(got, list | tuple):
        return len(stated) == len(got) and all(map(values_match, stated, got))
    if isinstance(stated, bool) or isinstance(got, bool):
        return stated is got
    return bool(stated == got)


def _listed(value: Json) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
