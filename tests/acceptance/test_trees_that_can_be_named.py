"""Which trees a question may name: not those that are parts of others, and only those that the operator lists."""

from typing import Any

import pytest

from oracle.agent.answering import Ask
from oracle.core.errors import UserError
from tests.acceptance.harness import answers, harness

PART = "tree: part\ninternal: true\nparameters: {of: str}\nroot: {set: {hint: of}}\n"
WHOLE = "tree: whole\nroot: {sequence: [{subtree: {tree: part, with: {of: brief}}}, llm_turn]}\n"


@pytest.mark.parametrize("name", ["fallback", "use_tools", "follow_signal", "continue_answer", "part", "nowhere"])
async def test_a_part_of_other_trees_is_refused_like_a_tree_that_there_is_not(name: str) -> None:
    async with harness([answers()], wire=False) as it:
        it.write_tree("part", PART)
        with pytest.raises(UserError, match="there is no tree") as refused:
            await it.ask(tree=name)
    known = str(refused.value).partition("; ")[2]
    assert str(refused.value).startswith(f"there is no tree {name!r}; ")
    assert "oracle" in known
    assert not any(part in known for part in ("fallback", "use_tools", "follow_signal", "continue_answer", "part"))


async def test_a_part_can_be_included_in_every_tree() -> None:
    async with harness([answers("Here.")], wire=False) as it:
        it.write_tree("part", PART)
        it.write_tree("whole", WHOLE)
        answered = await it.ask(tree="whole")
    assert answered.answer == "Here."


async def test_a_part_with_mistakes_stays_a_part() -> None:
    async with harness(wire=False) as it:
        it.write_tree("part", PART.replace("set:", "sett:"))
        with pytest.raises(UserError, match="there is no tree"):
            await it.ask(tree="part")


@pytest.mark.parametrize(("named", "refused"), [(("whole",), "default"), (("default",), "whole")])
async def test_an_operator_lists_what_can_be_named_besides_the_default_tree(named: Any, refused: str) -> None:
    async with harness([answers()] * 2, wire=False, named_trees=named) as it:
        it.write_tree("whole", "tree: whole\nroot: {sequence: [llm_turn]}\n")
        assert (await it.ask()).reason == "completed"
        assert (await it.ask(tree=named[0])).reason == "completed"
        with pytest.raises(UserError, match=f"there are {', '.join(sorted([*named, 'oracle']))}"):
            it.oracle.check(Ask("Why?", tree=refused))
