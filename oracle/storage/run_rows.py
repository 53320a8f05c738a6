"""Rows of the table of runs as records."""

from typing import Any

from sqlalchemy import Row

from oracle.storage.records import RunRecord
from oracle.storage.summary import RunSummary


def record_of(row: Row[Any]) -> RunRecord:
    """The run behind a row of the table."""
    fields = row._asdict()
    del fields["node_errors"]  # a copy of the figure in the summary, for filters
    if fields["summary"] is not None:
        fields["summary"] = RunSummary.from_json(fields["summary"])
    return RunRecord(**fields)
