"""Runs over mutants of the shipped trees, in one process or several."""

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from benchmarks.tree_mutants.mutating import Mutant, mutants_of
from benchmarks.tree_mutants.noticing import Noticing, Verdict
from benchmarks.tree_mutants.report import Figures, equivalents
from oracle.core.logs import configure_unless_configured, quiet
from trees import FOLDER


def shipped(size: int | None = None) -> list[Mutant]:
    """The mutants of the shipped trees, file by file.

    Args:
        size: so many of them, the same ones each time; `None`: all.
    """
    found = [mutant for path in sorted(FOLDER.glob("*.yaml")) for mutant in mutants_of(path)]
    return found if size is None else sorted(found, key=lambda mutant: mutant.rank)[:size]


def run(mutants: Sequence[Mutant], *, workers: int = 1, whole: bool = False, verifies: bool = False) -> Figures:
    """Ask about each of them; those that are listed as equivalent are asked about only where `whole`.

    Raises:
        ValueError: the trees as they are fail their own scenarios or rules.
    """
    started_s = time.perf_counter()
    listed = equivalents()
    tried = [mutant for mutant in mutants if whole or mutant.name not in listed]
    lanes = [tried[number::workers] for number in range(workers)]
    verdicts_of = partial(_verdicts, whole=whole, verifies=verifies)
    if workers == 1:
        found = verdicts_of(tried)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            found = [verdict for lane in pool.map(verdicts_of, lanes) for verdict in lane]
    by_name = {verdict.mutant.name: verdict for verdict in found}
    verdicts = [by_name.get(mutant.name, Verdict(mutant)) for mutant in mutants]
    return Figures(verdicts, listed, time.perf_counter() - started_s)


def _verdicts(mutants: Sequence[Mutant], *, whole: bool, verifies: bool) -> list[Verdict]:
    configure_unless_configured("critical")
    with quiet():
        noticing = Noticing(whole=whole, verifies=verifies)
        if failing := noticing.prepare():
            raise ValueError(f"the trees fail without any mutant: {', '.join(failing)}")
        return [noticing.verdict(mutant) for mutant in mutants]
