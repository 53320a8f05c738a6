"""Fills an empty folder with the recorded runs of the demo: the project, the trees, and the database.

Rules:

- Rows are kept by table and column, and written to the tables of this version: a table or a column that is no more is
  left out.
- All times are moved by the same span, so that the latest run has just ended.
"""

import gzip
import re
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from bt_runtime.text import iso
from oracle.core.encoding import from_json
from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.schema import metadata
from oracle.runs.storage.setup import prepare

RECORDED: Final = Path(__file__).with_name("recorded.json.gz")
"""Written by `tests/oracle/features/demo/recording.py`."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")


def fill(folder: Path, address: str) -> None:
    """Write the files below the folder, and the rows to an empty database.

    Args:
        folder: an empty folder.
        address: of the SQLite database.
    """
    recorded = from_json(gzip.decompress(RECORDED.read_bytes()))
    for name, text in recorded["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    tables = recorded["tables"]
    database = Database(read_url(address))
    try:
        prepare(database)()
        by_s = time.time() - _latest(tables["run"])
        with database.write_engine.begin() as connection:
            for name in tables.keys() & metadata.tables.keys():
                known = metadata.tables[name].columns.keys()
                names = [each for each in tables[name]["columns"] if each in known]
                columns = ", ".join(f'"{each}"' for each in names)
                statement = f'INSERT INTO "{name}" ({columns}) VALUES ({", ".join("?" * len(names))})'  # noqa: S608
                for row in tables[name]["rows"]:
                    moved = {
                        each: _moved(each, value, by_s)
                        for each, value in zip(tables[name]["columns"], row, strict=True)
                    }
                    connection.exec_driver_sql(statement, tuple(moved[each] for each in names))
    finally:
        database.close()


def _latest(runs: dict[str, Any]) -> float:
    at = runs["columns"].index("finished_at")
    return max(float(row[at]) for row in runs["rows"])


def _moved(column: str, value: Any, by_s: float) -> Any:  # noqa: ANN401  what a column holds
    if isinstance(value, float) and (column == "at" or column.endswith("_at")):
        return value + by_s
    return _TIME.sub(partial(_later, by_s), value) if isinstance(value, str) else value


def _later(by_s: float, found: re.Match[str]) -> str:
    return iso(datetime.fromisoformat(found[0]) + timedelta(seconds=by_s))
