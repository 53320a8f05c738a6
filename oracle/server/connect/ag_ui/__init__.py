"""AG-UI 1.0: what `HttpAgent` of `@ag-ui/client` and what is built on it (CopilotKit) speak."""

from oracle.core.features import Feature

FEATURE = Feature(
    name="ag-ui", summary="Serves AG-UI clients at /agui.", adapters={"/agui": "oracle.server.connect.ag_ui.routes"}
)
