"""The errors of the tools; `oracle.core.errors` has the tree by who must act."""

from oracle.core.errors import OperatorError, ToolAuthorError, UpstreamError


class ToolError(UpstreamError):
    """A call cannot be answered; the message is written for the model and the user."""


class ToolSetupError(OperatorError):
    """Tools cannot be made as configured; the message is written for the operator."""


class ToolDefinitionError(ToolAuthorError):
    """A function or a set of tools is not well defined; the message is written for the tool author."""
