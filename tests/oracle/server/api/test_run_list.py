"""Lists of runs: filters, figures, counts and pages."""

import pytest

from oracle.llm.protocol import ModelFault
from oracle.runs.storage import run_pages
from oracle.server.api.replies import RunList
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA, OPERATOR, TOKENS, in_shared_loop

CALL = ScriptedTurn(text="Looking. ", tool_calls=(ScriptedCall("list_files", {}),))
FAILS = ScriptedTurn(fault=ModelFault("provider_failed", "It failed.", "status 500"))


async def listed(service, headers=None, **params):
    response = await service.client.get("/api/runs", params=params, headers=headers)
    assert response.status_code == 200, response.text
    found = response.json()
    assert RunList.model_validate(found).model_dump(mode="json", exclude_unset=True) == found
    return found


async def questions(service, **params) -> list[str]:
    return [run["question"] for run in (await listed(service, **params))["runs"]]


async def test_a_run_in_a_list_has_its_question_and_figures(start):
    service = await start([CALL, ScriptedTurn(text="Done.")])
    await service.ask("Which files does the code have?", limits={"max_iterations": 2})
    (run,) = (await listed(service))["runs"]
    assert run["question"] == "Which files does the code have?"
    assert run["duration_s"] > 0
    assert run["kept"] == "whole"
    summary = run["summary"]
    assert (summary["tools"], summary["tool_errors"], summary["node_errors"]) == (1, 0, 0)
    assert summary["ticks"] > 3
    assert [kind for kind, _, _ in summary["shape"] if kind != "notice"] == ["turn", "tool", "turn"]


async def test_a_long_question_is_shortened(service):
    await service.ask("why " * 1_000)
    (run,) = (await listed(service))["runs"]
    assert len(run["question"]) == 300
    assert run["question"].endswith("…")


async def test_runs_are_filtered_and_counted(start):
    service = await start([ScriptedTurn(text="Hello."), FAILS, HANGS])
    await service.ask("one apple")
    await service.ask("two Äpfel, and an apple")
    async with service.asking("three pears") as streamed:
        await streamed.until("here")
        everything = await listed(service)
        assert everything["counts"] == {
            "total": 3,
            "by_reason": {"completed": 1, "error": 1, "running": 1},
            "is_complete": True,
        }
        one, two, three = reversed(everything["runs"])
        assert three["summary"] is None
        assert three["duration_s"] is None
        for params, expected in (
            ({"reason": "completed"}, [one]),
            ({"reason": ["completed", "error"]}, [two, one]),
            ({"status": "running"}, [three]),
            ({"status": "finished"}, [two, one]),
            ({"status": ["running", "parked"]}, [three]),
            ({"tree": "oracle"}, [three, two, one]),
            ({"tree": "other"}, []),
            ({"version": one["tree"]["version"][:6]}, [three, two, one]),
            ({"version": "0000"}, []),
            ({"context_id": two["context_id"]}, [two]),
            ({"since": two["created_at"]}, [three, two]),
            ({"until": two["created_at"]}, [one]),
            ({"since": "2999-01-01T00:00:00"}, []),
            ({"slow": 0}, [three, two, one]),
            ({"slow": 1_000}, []),
            ({"errors": True}, []),
            ({"search": "APPLE"}, [two, one]),
            ({"search": "äpfel two"}, [two]),
            ({"search": "question"}, []),
            ({"search": "100%"}, []),
            ({"search": "apple", "reason": "error"}, [two]),
            ({"search": " "}, [three, two, one]),
        ):
            found = await listed(service, **params)
            assert [run["run_id"] for run in found["runs"]] == [run["run_id"] for run in expected], params
            assert found["counts"]["total"] == len(expected), params
            assert found["next"] is None
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()


async def test_a_node_that_fails_is_found(start):
    service = await start()
    streamed = await service.ask("broken")
    await service.ask("whole")
    run = run_pages.schema.run
    change = run.update().where(run.c.id == streamed.run_id).values(node_errors=2)
    await service.parts.store.write(lambda connection: connection.execute(change).close())
    assert await questions(service, errors=True) == ["broken"]


@pytest.mark.parametrize("search", [None, "apple"])
async def test_the_pages_of_a_filter_have_each_run_once(start, monkeypatch, search):
    monkeypatch.setattr(run_pages, "MOST_SEARCHED", 3)
    service = await start()
    for number in range(8):
        await service.ask(f"{number} {'apple' if number % 3 == 0 else 'pear'}")
    params = {"limit": 1} | ({} if search is None else {"search": search})
    found, before, sizes = [], None, []
    while True:
        page = await listed(service, **params, **({} if before is None else {"before": before}))
        sizes.append(len(page["runs"]))
        assert (page["counts"] is None) is (before is not None)
        found += [run["question"] for run in page["runs"]]
        before = page["next"]
        if before is None:
            break
    expected = (
        ["6 apple", "3 apple", "0 apple"]
        if search
        else [f"{n} {'apple' if n % 3 == 0 else 'pear'}" for n in range(8)][::-1]
    )
    assert found == expected
    assert max(sizes) == 1


async def test_counts_are_bounded_and_say_so(start, monkeypatch):
    monkeypatch.setattr(run_pages, "MOST_COUNTED", 2)
    service = await start()
    for _ in range(4):
        await service.ask()
    assert (await listed(service))["counts"]["is_complete"] is False
    assert (await listed(service, counts=False))["counts"] is None


async def test_users_list_their_own_runs_and_operators_those_of_any_user(start):
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",))
    await service.ask("alice asks", headers=ALICE)
    await service.ask("bob asks", headers=BOB)
    assert await questions(service, headers=ALICE) == ["alice asks"]
    assert await questions(service, headers=ALICE, user="alice") == ["alice asks"]
    assert await questions(service, headers=ALICE, user="bob") == []
    assert (await listed(service, headers=ALICE, user="bob"))["counts"]["total"] == 0
    assert await questions(service, headers=ALICE, search="bob") == []
    assert await questions(service, headers=OLGA) == ["bob asks", "alice asks"]
    assert await questions(service, headers=OLGA, user="bob") == ["bob asks"]
    assert await questions(service, headers=OLGA, user="nobody") == []


async def test_of_a_forgotten_run_the_question_is_gone_and_not_found(service):
    streamed = await service.ask("a secret")
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    (run,) = (await listed(service))["runs"]
    assert (run["question"], run["kept"], run["forgotten"]) == ("", "gone", True)
    assert await questions(service, search="secret") == []


async def test_each_turn_of_a_run_under_way_is_read_once(start):
    service = await start([CALL, CALL, HANGS])
    async with service.asking("Which files does the code have?") as streamed:
        await streamed.until("here")
        (run,) = (await listed(service))["runs"]
        assert run["turns"] == 2
        log = service.parts.store.log
        before = await service.parts.progress.of(await service.parts.store.runs.find(streamed.run_id), log)
        assert before.seq > 0
        assert (await listed(service))["runs"][0]["tokens_used"] == run["tokens_used"] > 0
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()


@pytest.mark.parametrize(
    "query",
    [
        "reason=no", "status=no", "tree=%00", "version=xyz", "user=%00", "since=yesterday", "until=x", "slow=-1",
        "slow=nan", "errors=maybe", "search=" + "x" * 201, "counts=x", "no=1", "limit=0",
    ],
)  # fmt: skip
@in_shared_loop
async def test_a_wrong_filter_is_refused(shared, query):
    assert (await shared.client.get(f"/api/runs?{query}")).status_code == 422


@pytest.mark.parametrize(
    "query",
    [
        "search=%00",
        "since=0001-01-01T00:00:00%2B14:00",
        "until=9999-12-31T23:59:59-14:00",
        "context_id=%00",
        "search=%25_%5C",
        "slow=1e9",
    ],
)
@in_shared_loop
async def test_a_strange_filter_finds_nothing_or_everything(shared, query):
    assert (await shared.client.get(f"/api/runs?{query}")).status_code == 200


@pytest.mark.parametrize(("own", "effective"), [(2, 2), (9, 4)])
async def test_the_turn_limit_is_the_lower_one_of_user_and_tree(start, tmp_path, own, effective):
    tree = (
        "tree: short\nblackboard: {max_turns: {type: int, default: 4}}\nroot: {sequence: [compose_prompt, llm_turn]}\n"
    )
    (tmp_path / "short.yaml").write_text(tree, encoding="utf-8")
    service = await start()
    streamed = await service.ask(tree="short", limits={"max_iterations": own})
    (run,) = (await service.client.get("/api/runs")).json()["runs"]
    assert (run["turn_limit"], run["limits"]["max_iterations"]) == (effective, own)
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    gone = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert gone["turn_limit"] == own
