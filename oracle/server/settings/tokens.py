"""Bearer tokens and their users, as listed in `ORACLE_TOKENS`."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, Self

MIN_SECRET_BYTES: Final = 32
"""What HS256 keys must have at least (RFC 7518 3.2)."""

STRONG_TOKEN_CHARACTERS: Final = 16

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")  # what a bearer token may be made of (RFC 6750 2.1)
_LONGEST_USER = 200


class Tokens(Mapping[str, str]):
    """The user of each token. Read-only; its representation shows only the number of tokens.

    Args:
        users: the name of the user, by the bearer token.
    """

    __slots__ = ("_users",)

    def __init__(self, users: Mapping[str, str] | None = None) -> None:
        self._users = dict(users or {})

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `token=user,…`.

        A token may end with `=`, as base64 does; a user's name may not hold one. A user may have several tokens.

        Raises:
            ValueError: an entry is wrong; the message names its number and never its content.
        """
        users: dict[str, str] = {}
        for number, entry in enumerate(text.split(","), start=1):
            token, user = _read_entry(entry, number)
            if token in users:
                raise ValueError(f"entry {number} of ORACLE_TOKENS repeats a token; each token has one user")
            users[token] = user
        return cls(users)

    @property
    def has_weak(self) -> bool:
        """Whether a token is so short that it can be guessed."""
        return any(len(token) < STRONG_TOKEN_CHARACTERS for token in self._users)

    def __getitem__(self, token: str) -> str:
        # Not `self._users[token]`: a KeyError would carry the token.
        user = self._users.get(token)
        if user is None:
            raise KeyError
        return user

    def __iter__(self) -> Iterator[str]:
        return iter(self._users)

    def __len__(self) -> int:
        return len(self._users)

    def __repr__(self) -> str:
        return f"Tokens({len(self)})"


def _read_entry(entry: str, number: int) -> tuple[str, str]:
    # No message quotes a part of the entry: with the two sides swapped, any part may be the token.
    where = f"entry {number} of ORACLE_TOKENS"
    right = "entries are token=user, separated by commas"
    token, sign, user = (part.strip() for part in entry.rpartition("="))
    if not sign:
        raise ValueError(f"{where} is {'empty' if not user else 'without a ='}; {right}")
    if not token or not user:
        raise ValueError(f"{where} has no {'user' if token else 'token'}; {right}")
    if not _TOKEN.fullmatch(token):
        raise ValueError(f"{where} has an invalid token; it may contain only A-Z a-z 0-9 - . _ ~ + / and =")
    if len(user) > _LONGEST_USER or not user.isprintable():
        raise ValueError(f"{where} has a user whose name is not 1-{_LONGEST_USER} printable characters")
    return token, user
