"""Language models: the protocol, and the offline model.

`AnthropicModel` is not exported here, because `oracle.models.anthropic` imports the SDK, which takes a second.
"""

from oracle.models.offline import OfflineModel
from oracle.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolDefinition,
    ToolUse,
    TurnEnded,
    Usage,
    UsageReported,
)

__all__ = [
    "Message",
    "Model",
    "ModelError",
    "ModelEvent",
    "ModelFault",
    "ModelRequest",
    "OfflineModel",
    "ServerToolCalled",
    "ServerToolReturned",
    "SourceCited",
    "StopReason",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallRequested",
    "ToolDefinition",
    "ToolUse",
    "TurnEnded",
    "Usage",
    "UsageReported",
]
