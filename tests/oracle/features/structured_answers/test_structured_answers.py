"""Answers by a schema: what the user gets, one repair, and what is refused."""

import json

import pytest

from oracle.agent.equipment import Hooks
from oracle.features.structured_answers.checking import checked, problem_of
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import Gate
from tests.oracle.runs.test_continuing import requests, restarted, until_killed

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}
FORM = {"type": "json_schema", "schema": PERSON}
GOOD, BAD = '{"name": "Ada", "age": 36}', '{"name": "Ada", "age": "36"}'
SIGNAL = '\n\n<signal type="{}"><confidence>0.9</confidence>{}</signal>'
CHECKING = Hooks(check_answer=checked)
DOUBLING = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": {"type": "string"}},
}


async def asked(start, *texts, form=FORM, **body):
    turns = [each if isinstance(each, ScriptedTurn) else ScriptedTurn(text=each) for each in texts]
    service = await start(turns, hooks=CHECKING)
    return service, await service.ask("Who?", response_format=form, **body)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"\n{GOOD}\n" + SIGNAL.format("context_sufficient", "<sources_found>1</sources_found>"),
        GOOD + SIGNAL.format("need_capability", "<capability>web</capability><reason>news</reason>"),
        GOOD + SIGNAL.format("stuck", '<attempted>["a"]</attempted><blocker>b</blocker>'),
    ],
    ids=["plain", "fenced", "signal", "need_capability", "stuck"],
)
async def test_the_answer_is_the_json_alone_whatever_is_signalled(start, text):
    service, streamed = await asked(start, text)
    assert streamed.text == GOOD
    assert [chunk["content"] for chunk in streamed.chunks if chunk["type"] == "content"] == [GOOD]
    assert (streamed.done["termination_reason"], streamed.done["output"]) == ("completed", json.loads(GOOD))
    (request,) = service.model.requests
    assert (request.output_schema, request.tool_choice) == (PERSON, "auto")
    schema, question = request.messages[0]["content"]
    assert schema["text"].startswith("Answer the following question with JSON alone")
    assert json.loads(schema["text"].partition("\n\n")[2]) == PERSON
    assert question["text"] == "Who?"


async def test_one_repair_is_asked_for_with_the_places_and_only_its_answer_is_shown(start):
    service, streamed = await asked(start, BAD, GOOD)
    assert (streamed.text, streamed.done["termination_reason"], streamed.done["turns"]) == (GOOD, "completed", 2)
    repair = service.model.requests[1]
    assert repair.tool_choice == "none"
    note = repair.messages[-1]["content"][0]["text"]
    assert note.startswith('Your last response is not what the schema asks for: $.age: "36" is not of type "integer".')
    page = await service.client.get(f"/api/oracle/conversations/{streamed.done['context_id']}")
    assert [each["content"] for each in page.json()["messages"]] == ["Who?", GOOD]


async def test_a_second_misfit_ends_the_query_with_the_places_and_keeps_the_text(start):
    _, streamed = await asked(start, "It is Ada.", '{"name": 1}')
    assert streamed.done["termination_reason"] == "error"
    assert "output" not in streamed.done
    (error,) = [chunk for chunk in streamed.chunks if chunk["type"] == "error"]
    assert error["error_type"] == "answer_invalid"
    misfits = '$: "age" is a required property; $.name: 1 is not of type "string"'
    words = f"The answer is not what the schema asks for: {misfits}."
    assert error["error"] == words
    assert streamed.text == f'{{"name": 1}}\n\nStopped: {words}'


async def test_there_is_no_repair_where_the_limits_leave_no_turn(start):
    service, streamed = await asked(start, BAD, limits={"max_iterations": 1})
    assert len(service.model.requests) == 1
    assert streamed.done["termination_reason"] == "error"
    assert streamed.text.startswith(f"{BAD}\n\nStopped: The answer is not what the schema asks for: $.age")


async def test_tools_work_before_the_answer_and_what_is_said_with_them_is_not_shown(start):
    looks = says("I look it up.", calls("list_files"))
    _, streamed = await asked(start, looks, GOOD)
    assert "tool_result" in streamed.types
    assert (streamed.text, streamed.done["termination_reason"]) == (GOOD, "completed")


async def test_an_answer_that_was_cut_off_is_put_together(start):
    first, rest = GOOD[:11], GOOD[11:]
    _, streamed = await asked(start, ScriptedTurn(text=first, stop_reason="max_tokens"), rest)
    assert (streamed.text, streamed.done["termination_reason"]) == (GOOD, "completed")


async def test_a_whole_answer_and_other_forms(start):
    service = await start([ScriptedTurn(text="[1]"), ScriptedTurn(text='{"a": 1}')], hooks=CHECKING)
    body = {"question": "Which?", "response_format": {"type": "json_object"}}
    whole = (await service.client.post("/api/oracle", json=body)).json()
    assert whole["answer"] == '{"a": 1}'
    nested = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": True}}
    assert (await service.ask("Which?", response_format=nested)).done["output"] == {"a": 1}
    assert "output" not in (await service.ask("Which?", response_format={"type": "text"})).done


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"type": "xml"}, "a form is"),
        ({"type": "json_schema"}, "a form is"),
        (
            {"type": "json_schema", "schema": {"type": "strin"}},
            "the answer cannot have this form: this is no JSON schema",
        ),
        ({"type": "json_schema", "schema": DOUBLING}, "is reached in too many ways"),
        ({"type": "json_schema", "schema": {"enum": ["x" * 20_000]}}, "at most 16,000 are read"),
        ({"type": "json_schema", "schema": {"$ref": "https://example.com/s"}}, "refer to its own parts alone"),
        ({"type": "json_schema", "schema": {"pattern": "(a+"}}, "is no regular expression"),
        ({"type": "json_schema", "schema": {"pattern": "(a{1000}){1000}"}}, 'is not a \\"regex\\"'),
        ({"type": "json_schema", "schema": {"$dynamicRef": "#/$defs/a", "$defs": {"a": {}}}}, "parts by '$ref'"),
    ],
)
async def test_a_schema_that_cannot_be_held_is_refused(service, form, words):
    response = await service.client.post("/api/oracle", json={"question": "Who?", "response_format": form})
    assert response.status_code == 422
    assert words in response.text
    assert "response_format" in response.text


async def test_a_pattern_that_backtracks_and_a_great_answer_take_no_time():
    schema = {"type": "array", "items": {"pattern": "^(a+)+$"}}
    assert "is too large for its schema" in problem_of(schema, json.dumps(["a" * 30 + "b"] * 5_000))
    assert problem_of(schema, json.dumps(["a" * 30 + "b"]))
    assert "nested more than" in problem_of({}, "[" * 100 + "]" * 100)


async def test_the_embedded_model_and_a_service_without_the_feature_refuse_it(start, tmp_path):
    body = {"question": "Who?", "response_format": FORM}
    embedded = await start(provider_answers=False)
    assert "the embedded model only quotes" in (await embedded.client.post("/api/oracle", json=body)).text
    without = await start(folder=tmp_path / "other", features=("-structured-answers",))
    assert "does not accept 'response_format'" in (await without.client.post("/api/oracle", json=body)).text


async def test_a_run_goes_on_in_another_process_with_its_schema_and_its_repair(url):
    gate = Gate()
    turns = [says("I look.", calls("probe"))]
    begun = await until_killed(
        url, turns, gate=gate, tools=[made_tool(gate)], hooks=CHECKING, ask={"output_schema": PERSON}
    )
    gate.open.set()
    async with restarted(url, [says(BAD), answers(GOOD)], tools=[made_tool(gate)], hooks=CHECKING) as it:
        told = await it.told(begun)
        assert (told.text, told.done["output"]) == (GOOD, json.loads(GOOD))
        assert [each.tool_choice for each in requests(it)] == ["auto", "none"]
        assert all(each.output_schema == PERSON for each in requests(it))
