"""What can be wrong with the set-up of traces."""

from oracle.errors import OperatorError


class TraceSetupError(OperatorError):
    """Traces cannot be exported as configured."""
