"""The types and values of settings, in the words of an author of trees."""

import inspect
import json
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from bt_runtime.language.kind import ExpressionText, NodeSettings

_WORDS: Mapping[object, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    type(None): "null",
    Any: "any value",
    ExpressionText: "expression",
}


def type_words(field: FieldInfo) -> str:
    """The type of a setting with its bounds, in an author's words."""
    bounds = [
        f"{words} {getattr(limit, attribute)}"
        for limit in field.metadata
        for attribute, words in (("gt", "more than"), ("ge", "at least"), ("lt", "less than"), ("le", "at most"))
        if getattr(limit, attribute, None) is not None
    ]
    return ", ".join([_annotation_words(field.annotation), *bounds])


def _annotation_words(annotation: Any) -> str:  # noqa: ANN401  any annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _WORDS:
        return _WORDS[annotation]
    if origin is Literal:
        return " or ".join(map(code, arguments))
    if origin in {types.UnionType, Union}:
        return " or ".join(_annotation_words(part) for part in arguments if part is not type(None))
    if origin is not None and hasattr(annotation, "__metadata__"):
        return _annotation_words(arguments[0])
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"mapping of {_annotation_words(arguments[1])}"
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return f"list of {_annotation_words(arguments[0])}"
    if isinstance(annotation, TypeVar) or not inspect.isclass(annotation):
        return "value"
    return "mapping" if issubclass(annotation, NodeSettings | Mapping) else "value"


def code(value: object) -> str:
    """A value as Markdown shows it."""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"
