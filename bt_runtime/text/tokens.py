"""Token estimates, for where a provider reports no usage."""

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(characters: int) -> int:
    """The tokens of a text of that many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
