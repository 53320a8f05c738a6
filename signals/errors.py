"""Errors of this package; mistakes of the model are not exceptions but warnings in `ParsedResponse`.

```
SignalError          us: a stream was fed or closed after its end
└── FieldError           internal: the text of a field is not a value of its type
```
"""


class SignalError(Exception):
    """A `SignalStream` was used after `close()`; base of this package's errors."""


class FieldError(SignalError):
    """A field's text is not a value of its type; the message continues "field 'x' ..."."""
