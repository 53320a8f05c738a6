"""How many false claims of answers the matcher finds, and how many true answers it doubts.

    python -m benchmarks.evidence FILE …     answers written by hand, with the calls of their runs

Each line of a file is a JSON object: `id`, `question`, `calls` (`tool`, `args`, `result`, `ok`), `answer`, perhaps
`attached` (`name`, `text`), and `false_claim`: the sentence that is false, or null. Files may be packed, as `.gz`.
Intervals are Wilson's, at 95 %.
"""

import gzip
import sys
from math import sqrt
from pathlib import Path
from typing import Any

from oracle.core.encoding import from_json
from oracle.features.evidence.matching import Unmatched, unmatched
from oracle.features.evidence.record import Call, Done

_Z = 1.96


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The interval of a share."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, _Z * _Z
    middle = share + square / (2 * of)
    width = _Z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (middle - width) / (1 + square / of), (middle + width) / (1 + square / of)


def found_in(item: dict[str, Any]) -> tuple[Unmatched, ...]:
    """What the matcher finds in an answer."""
    calls = tuple(Call(each["tool"], each["args"], each["result"], each["ok"]) for each in item["calls"])
    attached = item.get("attached", [])
    files = {each["name"]: each["text"] for each in attached}
    return unmatched(item["answer"], Done(calls, (item["question"],), files))


def touches(item: dict[str, Any], found: Unmatched) -> bool:
    """Whether a finding and the false claim of an answer are of one place."""
    false = str(item["false_claim"])
    at = str(item["answer"]).find(false)
    return at < found.start + len(found.quote) and found.start < at + len(false)


def _share(what: str, hits: int, of: int) -> str:
    low, high = wilson(hits, of)
    return f"{what:<44}{hits:>4} of {of:<4} {100 * hits / max(1, of):5.1f} %  [{100 * low:.1f}, {100 * high:.1f}]"


def items_of(path: Path) -> list[dict[str, Any]]:
    """The answers of a file."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [from_json(line) for line in text.splitlines() if line.strip()]


def main(files: list[str]) -> None:
    """Print the figures, then each answer that was judged wrongly."""
    items = [item for file in files for item in items_of(Path(file))]
    results = [(item, found_in(item)) for item in items]
    false = [(item, found) for item, found in results if item["false_claim"]]
    true = [(item, found) for item, found in results if not item["false_claim"]]
    missed = [item for item, found in false if not any(touches(item, each) for each in found)]
    alarms = [(item, found) for item, found in true if found]
    beside = [(i, [each for each in found if not touches(i, each)]) for i, found in false]
    print(_share("false claims found", len(false) - len(missed), len(false)))
    print(_share("true answers with an alarm", len(alarms), len(true)))
    print(_share("false answers with an alarm beside the claim", sum(bool(found) for _, found in beside), len(false)))
    for item in missed:
        print(f"\nmissed  {item['id']}: {item['false_claim']}")
    for item, found in [*alarms, *beside]:
        for each in found:
            print(f"\nalarm   {item['id']}: {each.quote}\n        {each.kind}: {each.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
