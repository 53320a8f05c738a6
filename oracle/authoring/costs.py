"""What checks of trees and the features that price their warnings share."""

from typing import Final

CACHE_MISSED: Final = "cache-missed"
"""The code of a warning that the provider's cache is missed in each round."""
TYPICAL_TOKENS: Final = 8_000
"""Of the input of a turn: the shipped prompt with its tools, and a few results."""
