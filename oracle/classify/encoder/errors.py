"""Errors of the encoder, by who must act.

```
OperatorError
└── EncoderError               the encoder cannot be used; heuristics answer alone
    ├── MissingEncoderError    a package or a folder that it needs is not there
    └── CorruptEncoderError    its files are not what they must be
```
"""

from oracle.core.errors import OperatorError


class EncoderError(OperatorError):
    """The encoder cannot be used; the message says why. Heuristics answer alone."""


class MissingEncoderError(EncoderError):
    """A package or a folder that it needs is not there."""


class CorruptEncoderError(EncoderError):
    """Its files are not what they must be."""
