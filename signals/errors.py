"""What can go wrong in this package; the model's mistakes are no exceptions but warnings in the answer.

```
SignalError
├── StreamClosedError    us: a stream was fed or closed after its end
└── FieldError           internal: the text of a field has no value of the field's type
```
"""


class SignalError(Exception):
    """Base of this package's errors."""


class StreamClosedError(SignalError):
    """A `SignalStream` was used after `close()`."""


class FieldError(SignalError):
    """A field's text has no value of its type; the message says what is wrong and continues "field 'x' ..."."""
