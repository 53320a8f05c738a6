"""Services with an adapter, over a real socket."""

from tests.oracle.server.api.conftest import database_url, quiet_logs, shared, start

__all__ = ["database_url", "quiet_logs", "shared", "start"]
