"""Where `oracle runs` reads runs: the database of the settings, or a running service.

history = with_source(SourceOptions(data_dir, url), lambda source: source.history(run))
"""

from oracle.cli.run_sources.opening import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_sources.protocol import ListedRun, RunSource

__all__ = ["RUN_SOURCE", "ListedRun", "RunSource", "SourceOptions", "with_source"]
