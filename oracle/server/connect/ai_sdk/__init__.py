"""The AI SDK's chat: `useChat` with `DefaultChatTransport`, unchanged, against `/api/chat`."""
