"""Who may talk to the guarded server, and with what."""

import secrets

TOKENS = {user: f"{user}-{secrets.token_hex(16)}" for user in ("alice", "bob", "olga")}
JWT_SECRET = secrets.token_hex(32)
OPERATOR = "olga"
MODEL = "claude-haiku-4-5"
"""Which requests may name, besides the one that answers."""
REQUESTS_PER_MINUTE = 400
