"""How the parts of a scenario may be written in a file, as types that pydantic validates.

A part has often a short form beside its long one: `need_turn` for `need_turn: {reason: …}`, a text for a turn that says
it. `read_as` gives a field such forms, and `one_of` is a mapping with one entry, whose key says what its value is.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    TypeAdapter,
    create_model,
)

CLOSED = ConfigDict(extra="forbid")


class Record(BaseModel):
    """A mapping whose fields are known."""

    model_config = CLOSED

    @property
    def given(self) -> dict[str, Any]:
        """The fields that are written."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


Flag = Annotated[bool, Strict()]
Seconds = Annotated[float, Strict(), Field(ge=0)]
Count = Annotated[int, Strict(), Field(ge=0)]
Number = Annotated[int, Strict(), Field(ge=1)]
Share = Annotated[float, Strict(), Field(ge=0, le=1)]


ONE = Field(min_length=1, max_length=1)
"""Of a mapping with one entry, under any key."""


class _TextParts(Record):
    contains: str | tuple[str, ...] = ""
    lacks: str | tuple[str, ...] = ""
    starts: str = ""
    ends: str = ""


Text = str | _TextParts
"""A stated text: the whole of it, or parts of it."""


def word_of(words: Iterable[str]) -> Any:  # noqa: ANN401  a type
    """One of these words."""
    return Literal[*words]


def many(item: Any) -> Any:  # noqa: ANN401  types
    """A list of such items."""
    return tuple[item, ...]


def one_of(forms: Mapping[Any, Any], *, base: type[Record] = Record) -> Any:  # noqa: ANN401  a type
    """A mapping with one of these entries, besides the fields of `base`.

    Args:
        forms: the type of each entry's value, by its key.
        base: has the further fields.
    """
    fields: dict[str, Any] = {name: (form, None) for name, form in forms.items()}

    def check(record: Record) -> Record:
        if len(record.model_fields_set & forms.keys()) != 1:
            raise ValueError(f"it has one of {', '.join(forms)}")
        return record

    return Annotated[create_model("One", __base__=base, **fields), AfterValidator(check)]


def read_as(form: Any, make: Callable[[Any], Any]) -> PlainValidator:  # noqa: ANN401  a type
    """How a field is read that is written in another form.

    Args:
        form: the type of what is written.
        make: makes the value of the field from it.
    """
    read = TypeAdapter(form).validate_python
    return PlainValidator(lambda value: make(read(value)), json_schema_input_type=form)


def short_for(field: str) -> BeforeValidator:
    """How a record is read that may be written as a text, which stands for one of its fields."""
    return BeforeValidator(lambda value: {field: value} if isinstance(value, str) else value)
