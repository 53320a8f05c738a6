"""The command line: `python -m benchmarks.tree_mutants`."""

import argparse
import json
import os
import sys

from benchmarks.tree_mutants.report import AIM
from benchmarks.tree_mutants.running import run, shipped


def main() -> int:
    """Try mutants of the shipped trees; exit code 1 if fewer are noticed than is the aim."""
    parser = argparse.ArgumentParser(
        prog="tree_mutants", description="Small changes of the shipped trees: who notices?"
    )
    parser.add_argument("--sample", type=int, help="so many mutants; all if left out")
    parser.add_argument("--all-noticers", action="store_true", help="ask everybody, not only until the first notices")
    parser.add_argument("--verify", action="store_true", help="ask the verifier as well: seconds for each mutant")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    given = parser.parse_args()
    mutants = shipped(given.sample)
    figures = run(mutants, workers=given.workers, whole=given.all_noticers, verifies=given.verify)
    print(json.dumps(figures.to_json(), ensure_ascii=False, indent=2) if given.json else "\n".join(figures.lines()))
    return 0 if figures.share >= AIM else 1


if __name__ == "__main__":
    sys.exit(main())
