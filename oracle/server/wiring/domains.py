"""The domain that the settings name, read once."""

from functools import lru_cache
from pathlib import Path

from oracle.core.loading import imported
from oracle.domains.domain import Domain, shipped_domain
from oracle.server.settings.fields import Settings


def domain_of(settings: Settings) -> Domain:
    """What users ask about.

    Raises:
        DomainError: the folder cannot be used; the message has the places of all mistakes.
    """
    return shipped_domain() if settings.domain == shipped_domain().name else _read(Path(settings.domain).resolve())


@lru_cache(maxsize=8)
def _read(folder: Path) -> Domain:
    found: Domain = imported("oracle.domains.folder:read_domain")(folder)
    return found
