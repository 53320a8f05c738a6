from tests.oracle.cli.conftest import data, database, oracle, own_environment
from tests.oracle.server.api.conftest import database_url, guarded, quiet_logs, service, start

__all__ = ["data", "database", "database_url", "guarded", "oracle", "own_environment", "quiet_logs", "service", "start"]
