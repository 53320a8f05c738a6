"""Users that tokens and chat backends name."""

from typing import Final, NamedTuple

from oracle.core.errors import UserError

LONGEST_USER: Final = 255


class BadTokenError(UserError):
    """A token that names a user is not valid; the message says what is wrong with it, as the end of a sentence."""


class NamingError(UserError):
    """A request names its user in a way that is not allowed, or does not name one; the message says what to set."""


class NamedUser(NamedTuple):
    """A user that was named.

    Args:
        name: the whole name, with that of the issuer or the backend.
        is_operator: a claim of the user's own token says so.
        is_proven: by a signature; plain words prove nothing.
    """

    name: str
    is_operator: bool = False
    is_proven: bool = True


def is_name(text: object) -> bool:
    """Whether a user can be called so."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_USER and text.isprintable()
