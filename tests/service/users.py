"""Who may talk to the guarded server, and with what."""

import secrets

import jwt

TOKENS = {user: f"{user}-{secrets.token_hex(16)}" for user in ("alice", "bob", "olga")}
JWT_SECRET = secrets.token_hex(32)
OPERATOR = "olga"
MODEL = "claude-haiku-4-5"
"""Which requests may name, besides the one that answers."""
REQUESTS_PER_MINUTE = 400


def bearer_of(user: str) -> dict[str, str]:
    """The header of a user with a JWT."""
    return {"Authorization": f"Bearer {jwt.encode({'sub': user}, JWT_SECRET, algorithm='HS256')}"}


def token_of(user: str) -> dict[str, str]:
    """The header of a user with a fixed token."""
    return {"Authorization": f"Bearer {TOKENS[user]}"}
