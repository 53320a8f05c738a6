"""Users with a limit of the day, over several workers that are killed: nobody goes more than one turn beyond it."""

import asyncio
import random
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import psycopg
import pytest

from benchmarks.paced import Pace, question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from tests.faults.service import service
from tests.support.waiting import until

PACE = Pace(turns=3, pieces=20, turn_s=0.4)
SUMS = {
    "counted": "SELECT user_id, sum(tokens) FROM spent_turn GROUP BY user_id",
    "of the runs": "SELECT user_id, sum(tokens_used) FROM run GROUP BY user_id",
}


class Workers:
    """Processes on one database, of which some are dead now and then."""

    def __init__(self, servers: list[ServerProcess], *, dice: random.Random) -> None:
        self._servers = servers
        self._dice = dice

    def address(self) -> str:
        return self._dice.choice([each.address for each in self._servers if each.is_running])

    async def lose_one(self) -> None:
        victim = self._dice.choice(self._servers)
        await victim.kill()
        await victim.start()


class User:
    """Asks one question after the other, until there is no more to be spent."""

    def __init__(self, name: str, workers: Workers, client: httpx2.AsyncClient) -> None:
        self.name, self._workers, self._client = name, workers, client
        self._headers = {"Authorization": f"Bearer {token_of(name)}"}
        self.interrupted = 0

    async def spend(self) -> str:
        """Returns the words of the refusal."""
        number = 0
        while True:
            number += 1
            body = {"question": question(f"{self.name}q{number}")}
            try:
                answered = await self._client.post(
                    f"{self._workers.address()}/api/oracle", json=body, headers=self._headers
                )
            except httpx2.TransportError:  # killed: another worker goes on with it
                self.interrupted += 1
            else:
                if answered.status_code == 429 and "tokens a day" in answered.text:
                    return str(answered.json()["detail"])
                assert answered.status_code in (200, 503), answered.text
            await until(self._is_idle, guard_s=120)

    async def _is_idle(self) -> bool:
        """Whether all runs of the user have ended, so that one question is answered at a time."""
        try:
            path = f"{self._workers.address()}/api/runs?limit=200"
            runs = (await self._client.get(path, headers=self._headers)).json()["runs"]
        except (httpx2.TransportError, KeyError):
            return False
        return all(run["status"] == "finished" for run in runs)


def token_of(name: str) -> str:
    return f"{name}-token-0123456789"


@pytest.mark.long("kills workers that are processes of their own")
@pytest.mark.parametrize(
    ("users", "workers", "kills", "hard"),
    [(6, 2, 2, 2_000), pytest.param(40, 4, 20, 5_000, marks=pytest.mark.soak)],
)
async def test_nobody_goes_more_than_one_turn_beyond_the_limit(
    tmp_path: Path, postgresql_url: str, users: int, workers: int, kills: int, hard: int
) -> None:
    dice = random.Random(12)
    (tmp_path / "limits.yaml").write_text(f"plans: {{all: {{per_day: {{tokens: {{hard: {hard}}}}}}}}}\ndefault: all\n")
    names = [f"user{n}" for n in range(users)]
    settings = {
        "ORACLE_DATABASE_URL": postgresql_url,
        "ORACLE_LIMITS": str(tmp_path / "limits.yaml"),
        "ORACLE_TOKENS": ",".join(f"{token_of(name)}={name}" for name in names),
        "ORACLE_REQUESTS_PER_MINUTE": "0",
    }
    async with asyncio.timeout(60 + 15 * kills), AsyncExitStack() as stack:
        provider = await stack.enter_async_context(PacedProvider(PACE))
        servers = [service(tmp_path, provider, data=f"data{n}", settings=settings) for n in range(workers)]
        for server in servers:
            await stack.enter_async_context(server)
        client = await stack.enter_async_context(httpx2.AsyncClient(timeout=120, trust_env=False))
        cluster = Workers(servers, dice=dice)
        asking = [User(name, cluster, client) for name in names]
        spending = [asyncio.create_task(user.spend()) for user in asking]
        for _ in range(kills):
            await asyncio.sleep(dice.uniform(0.2, 1.0))
            await cluster.lose_one()
        words = await asyncio.gather(*spending)
    assert all(f"Your limit of {hard:,} tokens a day is reached" in each for each in words)
    assert sum(user.interrupted for user in asking) > 0
    with psycopg.connect(postgresql_url) as connection:
        sums = {what: dict(connection.execute(query).fetchall()) for what, query in SUMS.items()}
        rows = connection.execute("SELECT user_id, tokens FROM spent_turn ORDER BY at").fetchall()
    assert sums["counted"] == sums["of the runs"]
    assert set(sums["counted"]) == set(names)
    turns: dict[str, list[int]] = {name: [] for name in names}
    for name, tokens in rows:
        turns[name].append(tokens)
    assert all(sum(each[:-1]) < hard <= sum(each) for each in turns.values()), turns
