"""A query parameter that a call does not have is refused, on every call."""

from tests.oracle.server.api.conftest import in_shared_loop

NO_SUCH = "no_such_parameter"


@in_shared_loop
async def test_every_call_refuses_query_parameters_that_it_does_not_have(shared):
    described = (await shared.client.get("/openapi.json")).json()
    calls = [(method, path) for path, operations in described["paths"].items() for method in operations]
    assert len(calls) >= 19
    for method, path in calls:
        target = path.replace("{run_id}", "x").replace("{context_id}", "x")
        body = {"json": {"question": "hello"}} if method in ("post", "put", "patch") else {}
        response = await shared.client.request(method.upper(), f"{target}?{NO_SUCH}=1", **body)
        assert response.status_code == 422, (method, path)
        mistakes = {tuple(each["loc"]): each for each in response.json()["detail"]}
        mistake = mistakes["query", NO_SUCH]
        assert (mistake["type"], mistake["input"]) == ("extra_forbidden", "1")


@in_shared_loop
async def test_the_refusal_names_the_parameters_that_there_are(shared):
    response = await shared.client.get("/api/runs?contextid=x&limit=5")
    (mistake,) = response.json()["detail"]
    assert mistake["loc"] == ["query", "contextid"]
    names = "before, context_id, counts, errors, feedback, limit, reason, search, shadows, since, slow, status, tree"
    assert mistake["msg"] == f"Unknown query parameter; the known parameters are: {names}, until, user, version"
    (mistake,) = (await shared.client.get("/healthz?x")).json()["detail"]
    assert mistake["msg"] == "Unknown query parameter; this call takes none"


@in_shared_loop
async def test_the_list_of_unknown_parameters_is_bounded(shared):
    query = "&".join(f"p{number}" for number in range(5_000))
    response = await shared.client.get(f"/api/me?{query}")
    assert response.status_code == 422
    assert len(response.json()["detail"]) == 30


async def test_the_runs_of_one_conversation_are_listed_alone(service):
    first = await service.ask()
    await service.ask("other")
    context_id = first.done["context_id"]
    again = await service.ask("again", context_id=context_id)
    told = (await service.client.get("/api/runs", params={"context_id": context_id})).json()
    assert [run["run_id"] for run in told["runs"]] == [again.run_id, first.run_id]
    for unknown in ("never-was", "a" * 65, "\0"):
        told = (await service.client.get("/api/runs", params={"context_id": unknown})).json()
        assert (told["runs"], told["next"], told["counts"]["total"]) == ([], None, 0)
