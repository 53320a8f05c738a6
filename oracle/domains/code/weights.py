"""The learned weights of questions, and what their columns stand for; `benchmarks.train_classifiers` writes them."""

from pathlib import Path

from oracle.domains.code import TYPES

QUERY_WEIGHTS = Path(__file__).with_name("query_weights.json")
SOURCE_WEIGHTS = Path(__file__).with_name("source_weights.json")
QUERY_TYPES: tuple[str, ...] = tuple(sorted(TYPES.needs))
"""The labels of `QUERY_WEIGHTS`, in their order."""
SOURCES: tuple[str, ...] = TYPES.sources
"""The labels of `SOURCE_WEIGHTS`, in their order."""
