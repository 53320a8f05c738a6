"""The chain of digests, and what comes of it when a client goes on, goes back, asks anew and forgets."""

import asyncio
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from oracle.server.connect.base.chain import ClientQuestion, Said, chain_of
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import running_service
from tests.oracle.server.connect.base.conftest import PLAIN, Plain

texts = st.text(st.sampled_from("ab \n\u00e9\ud800"), max_size=4)
histories = st.lists(st.builds(Said, st.sampled_from(["user", "assistant"]), texts), max_size=8)
names = st.sampled_from([None, "", "chat-1"])


def chained(said, question, *, name=None, user="alice", protocol="plain", after=None):
    asked = ClientQuestion(question, tuple(said), conversation=name, after_run=after)
    return chain_of(asked, user_id=user, protocol=protocol)


@given(said=histories, question=texts, answer=texts, name=names)
def test_the_next_question_finds_this_one_by_its_digest(said, question, answer, name):
    now = chained(said, question, name=name)
    following = chained([*said, Said("user", question), Said("assistant", answer)], "next", name=name)
    if question.strip():
        assert following.before[-1] == now.said
        assert following.answers[-1] == " ".join(answer.split())
        assert following.key == now.key
    assert len(following.before) == len(following.answers)
    assert now.said not in now.before


@given(said=histories, question=texts, name=names)
def test_white_space_and_blank_texts_change_nothing(said, question, name):
    spaced = [Said(each.role, f" {each.text}\n") for each in said for each in (each, Said("user", " "))]
    assert chained(spaced, f"{question} ", name=name) == chained(said, question, name=name)


@given(said=histories, question=texts, name=names)
def test_users_protocols_and_names_do_not_meet(said, question, name):
    keys = {
        chained(said, question, name=name, user=user, protocol=protocol, after=after).key
        for user in ("alice", "bob")
        for protocol in ("plain", "other")
        for after in (None, "run-1")
    }
    assert len(keys) == 8
    assert chained(said, question, name="one").key != chained(said, question, name="two").key


def test_a_name_leaves_out_what_the_client_has_as_answers_and_none_does_not():
    def said(answer, name):
        return chained([Said("user", "a"), Said("assistant", answer)], "b", name=name).said

    assert said("x", "chat") == said("y", "chat")
    assert said("x", None) != said("y", None)


@dataclass
class Shown:
    """What a client shows: the branches of one chat."""

    branches: list[list[list[str]]] = field(default_factory=lambda: [[]])
    number: int = 0


steps = st.lists(
    st.tuples(st.sampled_from(["go_on", "edit", "anew", "trimmed"]), st.integers(0, 3), st.integers(0, 3)),
    min_size=1,
    max_size=7,
)


@pytest.mark.long("a service for each example")
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(steps=steps, name=st.sampled_from([None, "chat-1"]))
@example(
    steps=[("go_on", 0, 0), ("edit", 0, 0), ("go_on", 1, 0), ("go_on", 0, 0), ("trimmed", 1, 1)],
    name="chat-1",
)
@example(
    steps=[("anew", 0, 3), ("anew", 2, 2), ("trimmed", 3, 2), ("trimmed", 3, 3), ("go_on", 3, 1), ("edit", 0, 0)],
    name="chat-1",
)
def test_every_branch_that_a_client_shows_is_a_conversation_with_these_messages(steps, name):
    asyncio.run(_play(steps, name))


async def _play(steps, name):
    answers = (ScriptedTurn(text=f"Answer {n}.") for n in count())
    with TemporaryDirectory() as folder:
        async with running_service(Path(folder), answers, adapters=(PLAIN,)) as service:
            shown = Shown()
            for step in steps:
                await _take(service, shown, step, name)


async def _take(service, shown, step, name):
    kind, branch, back = step
    branches = shown.branches
    said = branches[branch % len(branches)]
    asked = range(0, len(said), 2)
    question, left_out = f"question {shown.number}?", 0
    shown.number += 1
    if kind in ("edit", "anew") and asked:
        at = asked[back % len(asked)]
        question = said[at][1] if kind == "anew" else question
        said = list(said[:at])
        branches.append(said)
    elif kind == "trimmed" and name is not None:
        left_out = 2 * min(back, len(said) // 2 - 1) if said else 0
    client = Plain(service, name, [list(each) for each in said[left_out:]])
    answer = await client.ask(question)
    said += [["user", question], ["assistant", answer["text"]]]
    assert await client.texts(await client.conversation_of(answer["run"])) == [text for _, text in said]
