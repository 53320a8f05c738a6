"""The language model: the protocol, Claude behind it, and the models that need no network.

Claude is not among the names below: `oracle.models.anthropic` imports the SDK, which takes a second. Who wires it
imports it.
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
    ToolCall,
    ToolCallRequested,
    ToolDefinition,
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
    "ToolCall",
    "ToolCallRequested",
    "ToolDefinition",
    "TurnEnded",
    "Usage",
    "UsageReported",
]
