"""A counterexample as the recording of a run, in the form in which the service answers `GET /api/runs/{id}/ticks`."""

from typing import Final

from oracle.encoding import to_json
from oracle.record.ticks import plain_tick
from oracle.verifying.stories import Counterexample

RUN_ID: Final = "counterexample"


def recording_of(story: Counterexample) -> bytes:
    """The recorded ticks as a JSON object: `{run_id, tree, version, nodes, ticks, next}`."""
    return to_json(
        {
            "run_id": RUN_ID,
            "tree": story.definition.name,
            "version": story.definition.sha,
            "nodes": list(story.definition.paths),
            "ticks": [plain_tick(record) for record in story.records],
            "next": None,
        }
    )
