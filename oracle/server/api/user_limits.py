"""The limits that a user has set."""

import structlog

from oracle.decision import AgentConfig, ConfigError
from oracle.server.api.parts import ServiceParts

log = structlog.get_logger(__name__)


async def config_of(parts: ServiceParts, user_id: str) -> AgentConfig:
    """The user's own limits; a missing field is the default.

    A saved value that is out of bounds (they were others when it was saved) counts as missing.
    """
    config = AgentConfig()
    for field, value in (await parts.store.settings.load(user_id)).items():
        try:
            config = config.with_limits({field: value})
        except ConfigError as error:
            log.warning("setting.skipped", field=field, problem=str(error))
    return config
