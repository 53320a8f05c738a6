"""Errors of this package; mistakes of the model are not exceptions but warnings in `ParsedResponse`.

```
SignalError
├── StreamClosedError    us: a stream was fed or closed after its end
└── FieldError           internal: the text of a field is not a value of its type
```
"""


class SignalError(Exception):
    """Base of this package's errors."""


class StreamClosedError(SignalError):
    """A `SignalStream` was used after `close()`."""


class FieldError(SignalError):
    """A field's text is not a value of its type; the message continues "field 'x' ..."."""
