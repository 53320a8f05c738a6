"""Language models: the protocol, and the offline model.

`AnthropicModel` is not exported here, because `oracle.llm.anthropic` imports the SDK, which takes a second.
"""

from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import (
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
