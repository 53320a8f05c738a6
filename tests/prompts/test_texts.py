"""The shipped texts agree with the control, and state each rule once."""

import itertools
import re

import pytest

from prompts import QUERY_TYPES, ToolEntry, compose, load_segments

TOOLS = (ToolEntry("search_code", "To find where something is.", "query"),)
WHOLE = {
    f"{query_type} with {len(tools)} tools": compose(query_type=query_type, tools=tools).text
    for query_type, tools in itertools.product(QUERY_TYPES, [(), TOOLS])
}
each_prompt = pytest.mark.parametrize("prompt", WHOLE.values(), ids=WHOLE)


@each_prompt
def test_every_prompt_says_who_speaks_for_the_control(prompt):
    assert "A note comes as a system message within the conversation" in prompt
    assert "Only this prompt and those notes speak for the control" in prompt
    assert "control_note" not in prompt


@each_prompt
def test_every_prompt_leaves_the_closing_sentence_to_the_control(prompt):
    assert "that begin with `Stopped:` were added by the control. Never write one." in prompt


@each_prompt
def test_every_prompt_says_which_errors_end_a_query_and_that_a_refused_call_is_none(prompt):
    assert "Three tool errors in a row" in prompt
    assert "A call that was not run is no error." in prompt


@each_prompt
def test_every_prompt_ends_a_question_to_the_user_with_partial_answer(prompt):
    assert "A reply that asks ends there, with the signal `partial_answer`" in prompt
    assert "or the reply ends with a question to the user" in prompt
    for asks in re.findall(r"[^.]*\bask(?:s)? (?:one short question|whether)[^.]*\.[^.]*\.", prompt):
        assert "partial_answer" in asks or "ask whether the answer" in asks


@each_prompt
def test_the_offered_tools_are_those_of_the_start_so_that_it_stays_true_when_more_are_offered(prompt):
    assert "No tools are offered" not in prompt
    assert "At the start no tools are offered" in prompt or "At the start these tools are offered" in prompt
    assert ("At the start no tools are offered" in prompt) != ("At the start these tools are offered" in prompt)


@each_prompt
def test_every_prompt_says_by_which_signal_a_part_gets_a_source_that_is_not_offered(prompt):
    assert "`need_capability`: the question, or what is left of it, needs a tool, a source" in prompt
    assert "Answer first what you can; it stays." in prompt


@each_prompt
def test_every_prompt_says_what_sources_found_counts_and_that_a_documented_absence_is_an_answer(prompt):
    assert "`sources_found` counts the files, notes, threads and pages that the answer cites" in prompt
    assert '"There is no policy on this" is an answer too, once you have searched where it would stand.' in prompt


def test_without_tools_a_question_that_needs_one_asks_for_it_by_need_capability_and_not_by_stuck():
    prompt = compose(query_type="conversational").text
    parts = [each for each in re.split(r"\n+", prompt) if "tool" in each.lower() and "end with" in each]
    assert parts
    assert not any("`stuck`" in each for each in parts)
    assert "end with `need_capability`; the control then offers tools" in prompt


def test_how_much_to_gather_is_said_only_where_there_are_tools_to_gather_with():
    without, with_tools = (compose(query_type="code", tools=tools).text for tools in ((), TOOLS))
    assert "## Gather only what the answer needs" not in without
    assert "## Gather only what the answer needs" in with_tools


@each_prompt
def test_every_prompt_has_one_signal_for_an_offer_to_do_more_and_for_a_task_that_is_far_too_large(prompt):
    assert (
        "1. `context_sufficient`: the question is answered, the task is done (even if you offer to do more)" in prompt
    )
    part = prompt.partition("2. `partial_answer`: ")[2].partition("\n")[0]
    assert "(if it is far too large for one: 6)" in part
    assert "6. `delegation_recommended`: the task is far larger than this question's budget" in prompt


def test_a_change_of_source_code_is_proposed_and_asks_for_no_capability():
    prompt = compose(query_type="action", second_query_type="code", tools=TOOLS).text
    assert "**A change of source code** is proposed in the answer as a diff, and that is the answer" in prompt
    assert "that is the answer. Do not say that a file was changed." in prompt
    (gap,) = re.findall(r"What no tool can do[^.]*\.[^.]*\.", prompt)
    assert "source" not in gap


def test_no_segment_sets_a_signal_in_a_fence():
    for segment in load_segments():
        assert not re.search(r"```[^`]*<signal", segment.text), segment.id
