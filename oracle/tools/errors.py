"""The errors of the tools, by who must act.

```
ToolsError
├── ToolError            the model: the text goes back to it as a result and says what would be right
├── ToolSetupError       the operator: a folder is missing or cannot be read; raised when tools are made
└── ToolDefinitionError  the tool author: a function cannot become a tool, or two tools share a name
```
"""


class ToolsError(Exception):
    """Base of all errors of the tools."""


class ToolError(ToolsError):
    """A call cannot be answered; the message is fit for the model and the user."""


class ToolSetupError(ToolsError):
    """Tools cannot be made as configured; the message is fit for the operator."""


class ToolDefinitionError(ToolsError):
    """A function or a set of tools is not well defined; the message is fit for the tool author."""
