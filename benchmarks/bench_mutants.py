"""Who notices small changes of the shipped trees: this project's checks and scenarios, and agentproofx.

The same mutants are given to both. agentproofx verifies a graph, so the tree is exported as one
(`benchmarks.tree_mutants.graphs`), with the properties of the tree that can be said of paths.
"""

import os
from collections import Counter

from benchmarks.tree_mutants.graphs import LOST, PROPERTIES, is_installed, objections
from benchmarks.tree_mutants.noticing import library_with
from benchmarks.tree_mutants.running import run, shipped

SAMPLE = 100


def main() -> None:
    """Print the figures side by side."""
    figures = run(shipped(SAMPLE), workers=os.cpu_count() or 1, whole=True)
    changing = [verdict for verdict in figures.changing if "reader" not in verdict.by]
    noticed = sum(bool(verdict.by) for verdict in changing)
    print(f"{len(changing)} mutants of the shipped trees that can be read and change behaviour, noticed by")
    print(f"  {'all of this project':<24}{noticed:>5}  {_percent(noticed, len(changing))}")
    for by, count in Counter(by for verdict in changing for by in verdict.by).most_common():
        print(f"    {by:<22}{count:>5}  {_percent(count, len(changing))}")
    if not is_installed():
        print("  agentproofx is not installed; `make bench` installs it")
        return
    found = 0
    for verdict in changing:
        with library_with(verdict.mutant) as library:
            found += any(True for _ in objections(library.load("oracle")))
    what = f"its structural checks and {len(PROPERTIES)} temporal properties"
    print(f"  {'agentproofx':<24}{found:>5}  {_percent(found, len(changing))}  ({what})")
    print(f"  Its graph has no place for {LOST}.")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %"


if __name__ == "__main__":
    main()
