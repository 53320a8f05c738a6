"""Errors of the encoder; heuristics answer alone then.

```
OperatorError
├── MissingEncoderError    a package or a folder that it needs is not there
└── CorruptEncoderError    its files are not what they must be
```
"""

from oracle.core.errors import OperatorError


class MissingEncoderError(OperatorError):
    """A package or a folder that it needs is not there."""


class CorruptEncoderError(OperatorError):
    """Its files are not what they must be."""
