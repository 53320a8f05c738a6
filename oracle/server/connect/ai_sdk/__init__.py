"""The AI SDK's chat: `useChat` with `DefaultChatTransport`, unchanged, against `/api/chat`."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="ai-sdk",
    summary="Serves `useChat` of the AI SDK at /api/chat.",
    adapters={"/api/chat": "oracle.server.connect.ai_sdk.routes"},
)
