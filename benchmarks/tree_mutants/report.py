"""The figures of a run over mutants."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.tree_mutants.noticing import NOTICERS, Verdict

EQUIVALENT: Final = Path(__file__).parents[1] / "equivalent_tree_mutants.yaml"
AIM: Final = 95
"""The percentage of the mutants that change behaviour to be noticed."""


def equivalents() -> Mapping[str, str]:
    """The mutants that change nothing that anybody could see, with the reason, by name."""
    return yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of mutants.

    Args:
        verdicts: of all that were tried.
        listed: the names of those that are equivalent.
        seconds: that it took.
    """

    verdicts: Sequence[Verdict]
    listed: Mapping[str, str]
    seconds: float = 0.0

    @property
    def changing(self) -> list[Verdict]:
        """Those that change behaviour."""
        return [each for each in self.verdicts if each.mutant.name not in self.listed]

    @property
    def unnoticed(self) -> list[Verdict]:
        """Those of them that nobody noticed."""
        return [each for each in self.changing if not each.by]

    @property
    def share(self) -> float:
        """The percentage that was noticed."""
        return 100 * (1 - len(self.unnoticed) / len(self.changing)) if self.changing else 100.0

    def by(self) -> dict[str, int]:
        """How many each has noticed: of all if all were asked, else those that it noticed first."""
        counts = Counter(by for each in self.changing for by in each.by)
        return {by: counts[by] for by in NOTICERS if counts[by]}

    def lines(self) -> list[str]:
        """The figures as text."""
        tried, changing = len(self.verdicts), len(self.changing)
        noticed = changing - len(self.unnoticed)
        sums = f"{tried} mutants, {tried - changing} equivalent, {changing} change behaviour; {noticed} noticed"
        lines = [f"{sums}: {self.share:.1f} % (aim {AIM} %), {self.seconds:.0f} s"]
        lines += [f"  {by:<10} {count}" for by, count in self.by().items()]
        lines += [f"  nobody     {each.mutant} ({each.mutant.where})" for each in self.unnoticed]
        return lines

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON data."""
        mutants = [
            {"name": each.mutant.name, "line": each.mutant.line, "by": list(each.by), "why": each.why}
            | ({"equivalent": self.listed[each.mutant.name]} if each.mutant.name in self.listed else {})
            for each in self.verdicts
        ]
        return {"share": round(self.share, 1), "by": self.by(), "seconds": round(self.seconds, 1), "mutants": mutants}
