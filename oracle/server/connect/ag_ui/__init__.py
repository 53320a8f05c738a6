"""AG-UI 1.0: what `HttpAgent` of `@ag-ui/client` and what is built on it (CopilotKit) speak."""
