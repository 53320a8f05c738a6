"""The errors of the tools; `oracle.core.errors` has the tree by who must act."""

from oracle.core.errors import OperatorError, UpstreamError


class ToolError(UpstreamError):
    """A call cannot be answered; the message is written for the model and the user."""


class ToolSetupError(OperatorError):
    """Tools cannot be made as configured; the message is written for the operator."""

    detail = "Your notes cannot be reached for now; the operator finds the reason in the log."
    log_event = "tools.refused"
