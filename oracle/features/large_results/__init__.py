"""Tool results that are too large for a turn: the model gets head and tail, and reads the rest with `read_result`.

The whole text is kept beside the log of the run, and is deleted with its texts.
"""

from oracle.core.features import Feature

FEATURE = Feature(
    name="large-results",
    summary="Keeps tool results that are too large for a turn; the model can read them in parts.",
    tables=("oracle.features.large_results.keeping:KEEPING",),
    tools="oracle.features.large_results.reading:read_result",
    prepares="oracle.features.large_results.results:prepared",
    opens="oracle.features.large_results.opening:opened",
)
