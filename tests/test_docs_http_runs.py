"""docs/http-runs.md: the calls work, and the filters and fields of its examples exist."""

import json
import re
from dataclasses import fields
from pathlib import Path

from pydantic import TypeAdapter

from oracle.replay.histories.model import EndFacts, EvaluationFacts, RowFacts, StepFacts, TickFacts, VisitFacts
from oracle.server.api.replies import RunBody, Tick
from tests.oracle.server.api.conftest import quiet_logs, start  # noqa: F401  fixtures

PAGE = (Path(__file__).parents[1] / "docs" / "http-runs.md").read_text(encoding="utf-8")
CALLS = [
    line.removeprefix("GET ")
    for block in re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


async def test_every_documented_call_is_answered(start):  # noqa: F811
    service = await start()
    streamed = await service.ask()
    assert len(CALLS) > 10
    for call in CALLS:
        response = await service.client.get(call.replace("RUN", streamed.run_id))
        assert response.status_code == 200, call
        assert response.content


async def test_every_filter_is_documented_and_exists(start):  # noqa: F811
    service = await start()
    document = (await service.client.get("/openapi.json")).json()
    known = {each["name"] for each in document["paths"]["/api/runs"]["get"]["parameters"]}
    (table,) = re.findall(r"\| filter \| runs \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE)
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == known - {"limit", "before", "counts"}


def test_the_example_of_what_is_shown_has_fields_that_exist():
    (block,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    example = json.loads(block)
    for part, facts in (
        (example["tree"]["rows"], RowFacts),
        (example["ticks"], TickFacts),
        (example["ticks"][0]["why"], StepFacts),
        (example["ticks"][0]["visits"], VisitFacts),
        (example["ticks"][0]["visits"][0]["evaluations"], EvaluationFacts),
        ([example["end"]], EndFacts),
    ):
        for each in part:
            assert set(each) <= {field.name for field in fields(facts)}
    assert set(example["tree"]["rows"][0]) == {field.name for field in fields(RowFacts)}
    assert TypeAdapter(list[RowFacts]).validate_python(example["tree"]["rows"])


def test_the_figures_of_a_list_and_the_reasons_of_a_tick_exist():
    assert {"question", "duration_s", "kept", "summary"} <= RunBody.model_fields.keys()
    assert {"turn", "decision", "headline", "marks", "why", "visits"} <= Tick.model_fields.keys()
