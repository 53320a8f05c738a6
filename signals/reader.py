"""Parses a signal block into a signal, or into the reason why it is malformed."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from bt_runtime.text.data import dataclass

from .errors import FieldError
from .markup import SignalBlock, attributes
from .model import SIGNAL_MODELS, Signal, SignalBase
from .values import decode, read_confidence, read_integer, read_list, read_words, storable

Clock = Callable[[], datetime]
Convert = Callable[[Sequence[str]], object]


def utc_now() -> datetime:
    """The system's clock: the time now, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class BlockReading:
    """One signal block, parsed.

    Args:
        raw_xml: the block as written (NUL and lone surrogates as U+FFFD).
        signal: the signal; `None` if the block is malformed.
        problem: why it is malformed, else `None`.
        declared_type: the type that it declares, in lower case; `None` if that is unreadable.
        warnings: what was assumed, corrected or dropped.
    """

    raw_xml: str
    signal: Signal | None
    problem: str | None = None
    declared_type: str | None = None
    warnings: tuple[str, ...] = ()


def read_block(text: str, block: SignalBlock, *, now: Clock = utc_now) -> BlockReading:
    """Read a block that was found in `text`."""
    raw_xml = storable(text[block.start : block.end])
    given = attributes(text[block.start : block.body_start])
    declared = decode(given.get("type", "")).strip().lower() or None
    if not block.closed:
        why = "another signal begins in it" if block.nested else f"no </signal> in {block.end - block.start} characters"
        return BlockReading(raw_xml, None, f"not closed: {why}", declared)
    model = SIGNAL_MODELS.get(declared or "")
    if model is None:
        known = ", ".join(SIGNAL_MODELS)
        return BlockReading(raw_xml, None, f"unknown type {declared!r}; known are {known}", declared)
    texts, warnings = _gather(given, block, model)
    confidence, doubt = read_confidence(texts.pop("confidence", [None])[0])
    if doubt:
        warnings.append(doubt)
    values, faults = _convert(texts, model)
    values |= {"confidence": confidence, "raw_xml": raw_xml, "timestamp": now()}
    signal, problems = _build(model, values, faults)
    warnings += (f"field {name!r} {fault}; dropped" for name, fault in faults.items() if name not in problems)
    problem = "; ".join(f"field {name!r} {fault}" for name, fault in problems.items()) or None
    return BlockReading(
        raw_xml, signal, problem, declared, tuple(f"signal {declared}: {warning}" for warning in warnings)
    )


def _own_fields(model: type[SignalBase]) -> dict[str, FieldInfo]:
    return {
        name: field
        for name, field in model.model_fields.items()
        if name not in SignalBase.model_fields and name != "type"
    }


def _converter(annotation: object) -> Convert:
    """The function that reads a field's text; `int` and `list[str]` may be in an `Annotated` or a union with `None`."""
    if get_origin(annotation) is Annotated:
        return _converter(get_args(annotation)[0])
    if get_origin(annotation) is list:
        return read_list
    options = [option for option in get_args(annotation) if option is not NoneType]
    if options:
        return _converter(options[0])
    return read_integer if annotation is int else read_words


_CONVERTERS: Mapping[type[SignalBase], Mapping[str, Convert]] = {
    model: {name: _converter(field.annotation) for name, field in _own_fields(model).items()}
    for model in SIGNAL_MODELS.values()
}
_REQUIRED: Mapping[type[SignalBase], tuple[str, ...]] = {
    model: tuple(name for name, field in _own_fields(model).items() if field.is_required())
    for model in SIGNAL_MODELS.values()
}


def _gather(
    given: Mapping[str, str], block: SignalBlock, model: type[SignalBase]
) -> tuple[dict[str, list[Any]], list[str]]:
    """The texts by field, child elements first, then attributes; and warnings about what was ignored."""
    texts: dict[str, list[Any]] = {}
    warnings: list[str] = []
    known = {"confidence", *_CONVERTERS[model]}
    for child in block.body.children:
        name = child.name.lower()
        if name not in known:
            warnings.append(f"unknown element {child.name!r} ignored")
            continue
        if name in texts and _CONVERTERS[model].get(name) is not read_list:
            warnings.append(f"element {child.name!r} given again; the first one counts")
        texts.setdefault(name, []).append(child.text)
    for name, text in given.items():
        if name == "type":
            continue
        if name not in known:
            warnings.append(f"unknown attribute {name!r} ignored")
        elif name not in texts:
            texts[name] = [text]
        elif decode(texts[name][0]).strip() != decode(text).strip():
            warnings.append(f"attribute {name!r} ignored; the element of that name counts")
    if block.body.stray:
        warnings.append("text outside of its elements ignored")
    return texts, warnings


def _convert(texts: Mapping[str, Sequence[str]], model: type[SignalBase]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values by field, and what is wrong with those that have none."""
    values: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, field_texts in texts.items():
        try:
            values[name] = _CONVERTERS[model][name](field_texts)
        except FieldError as fault:
            faults[name] = str(fault)
    return values, faults


def _build(model: type[Signal], values: dict[str, Any], faults: dict[str, str]) -> tuple[Signal | None, dict[str, str]]:
    """The signal, or what makes it malformed; optional fields that the model refuses are added to `faults`."""
    required = _REQUIRED[model]
    problems = {name: faults.get(name, "is missing") for name in required if name not in values}
    if problems:
        return None, problems
    try:
        return model(**values), {}
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=False):
            name = str(detail["loc"][0])
            if name in SignalBase.model_fields:  # the clock is wrong, not the text of the model
                raise
            faults[name] = f"is {values.pop(name, None)!r}; {detail['msg'][:1].lower()}{detail['msg'][1:]}"
    return _build(model, values, faults)
