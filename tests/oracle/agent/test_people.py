"""What a query asks people: questions, approvals of nodes and of tool calls, and what each decision does."""

import textwrap
from dataclasses import replace

import pytest

from bt_runtime import TreeFileError, TreeLibrary, replay
from oracle.agent.control.opening import open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.nodes import REGISTRY
from oracle.agent.outcomes import TurnOutcome
from oracle.core.chunks import Answered, ApprovalRequested, QuestionAsked, ToolReturned
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from oracle.runs.repeating import StillClock, UnaskedModel
from tests.acceptance.harness import answers, calls, harness, says
from trees import FOLDER

TREE = """\
tree: asks
blackboard:
  branch: {{ type: str, default: "" }}
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
{nodes}
    then: {{ sequence: [explain_stop, finish] }}
"""
TURN = """\
- llm_turn
- run_tools: {{ approve: [{policy}] }}
"""
END = """\
- llm_turn
- stop: completed
"""
CALL = "vault_write: { path: drafts/a.md, body: One. }"
OTHER = "vault_write: { path: drafts/b.md, body: Two. }"
SEARCH = "search_code: { query: x }"


def play(tmp_path, nodes, scenario, *, tree=TREE):
    """Play a scenario, as YAML, on a tree with these items of a sequence in it."""
    (tmp_path / "asks.yaml").write_text(tree.format(nodes=textwrap.indent(textwrap.dedent(nodes), " " * 8)))
    text = "scenarios:\n  - name: It\n    tree: asks\n    expect: {}\n" + textwrap.indent(
        textwrap.dedent(scenario), " " * 4
    )
    return Player(TreeLibrary([tmp_path, FOLDER], registry=REGISTRY)).play(from_yaml(text)[0])


def writes(tmp_path, people, *turns, policy="vault_write", more=""):
    """Play a query whose turns call tools, some of which a person must approve."""
    nodes = "- offer_tools: [vault_write]\n" + TURN.format(policy=policy) * len(turns) + END
    model = "".join(f"- calls: [{', '.join(f'{{ {call} }}' for call in calls)}]\n" for calls in turns)
    return play(tmp_path, nodes, f"model:\n{model}- Done.\npeople: {people}\n{more}")


def of(played, kind):
    return [chunk for chunk in played.chunks if isinstance(chunk, kind)]


def results(played):
    return [chunk.tool_result for chunk in of(played, ToolReturned)]


def kinds(played):
    return [chunk.type for chunk in played.chunks]


# Questions

ASKS = """\
- ask_user: { question: "Which branch?", into: branch, options: [main, release] }
- say: "It is {branch}."
- llm_turn
"""


def test_the_answer_of_a_person_is_in_the_key(tmp_path):
    played = play(tmp_path, ASKS, "model: [Done.]\npeople: [{ answer: main }]\n")
    assert "It is main." in played.answer.text
    assert played.blackboard["branch"] == "main"
    (asked,), (answered,) = of(played, QuestionAsked), of(played, Answered)
    assert asked.interrupt.message == "Which branch?"
    assert asked.interrupt.response_schema == {"type": "string", "enum": ["main", "release"]}
    assert asked.interrupt.expires_at == "2026-01-09T03:04:05.000Z"
    assert asked.interrupt.on_expiry == "fail"
    assert (answered.interrupt.status, answered.interrupt.answered_by, answered.answer) == (
        "answered",
        "person",
        "main",
    )


@pytest.mark.parametrize("decision", ["expire", "{ refuse: Ask somebody else. }", "approve"])
def test_a_question_without_an_answer_fails(tmp_path, decision):
    """An approval is no answer, and counts as a refusal."""
    question = ASKS.partition("\n")[0].removeprefix("- ")
    nodes = f"- selector: [{{ {question} }}, {{ say: Nobody knows. }}]\n- llm_turn\n"
    played = play(tmp_path, nodes, f"model: [Done.]\npeople: [{decision}]\n")
    assert played.answer.text == "Nobody knows.\n\nDone."


def test_the_default_counts_when_nobody_answers_in_time(tmp_path):
    nodes = ASKS.replace("options: [main, release]", "default: main, expires: 30m, answered_by: { not: asker }")
    played = play(tmp_path, nodes, "model: [Done.]\npeople: [expire]\n")
    assert played.blackboard["branch"] == "main"
    (asked,), (answered,) = of(played, QuestionAsked), of(played, Answered)
    assert (asked.interrupt.on_expiry, asked.interrupt.answerers) == ("default", "not_asker")
    assert asked.interrupt.expires_at == "2026-01-02T03:34:05.000Z"
    assert answered.interrupt.status == "expired"


def test_a_halt_withdraws_what_was_asked(tmp_path):
    played = play(tmp_path, ASKS, "people: [{ answer: main, after_s: 9 }]\nevents: [cancel: { at_s: 3 }]\n")
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["withdrawn"]
    assert played.done is not None
    assert played.chunks[-1] is played.done


def test_the_time_of_a_run_that_waits_for_people_alone_stands_still(tmp_path):
    question = ASKS.partition("\n")[0].removeprefix("- ")
    nodes = f"- force_success: {{ timeout: {{ seconds: 60, child: {{ {question} }} }} }}\n- llm_turn\n"
    played = play(tmp_path, nodes, "model: [Done.]\npeople: [{ answer: main, after_s: 900 }]\n")
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["answered"]
    assert (played.answer.text, played.blackboard["branch"]) == ("Done.", "main")


def test_a_time_limit_ends_the_wait_for_an_answer_beside_other_work(tmp_path):
    question = ASKS.partition("\n")[0].removeprefix("- ")
    asked = f"force_success: {{ timeout: {{ seconds: 60, child: {{ {question} }} }} }}"
    nodes = f"- parallel: {{ children: [{{ {asked} }}, llm_turn] }}\n"
    model = "[{ text: Done., delay_s: 90 }]"
    played = play(tmp_path, nodes, f"model: {model}\npeople: [{{ answer: main, after_s: 80 }}]\n")
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["withdrawn"]
    assert (played.answer.text, played.blackboard["branch"]) == ("Done.", "")


def test_a_decision_that_nobody_was_asked_for_fails_the_scenario(tmp_path):
    (tmp_path / "asks.yaml").write_text(TREE.format(nodes=textwrap.indent(ASKS, " " * 8)))
    (scenario,) = from_yaml(
        "scenarios:\n- { name: It, tree: asks, model: [Done.], people: [{ answer: main }, approve], "
        "expect: { turns: 1 } }\n"
    )
    verdict = judge(scenario, Player(TreeLibrary([tmp_path, FOLDER], registry=REGISTRY)).play(scenario))
    assert [each.got for each in verdict.differences] == ["1 decision left"]


def test_an_answer_has_the_form_of_the_schema(tmp_path):
    form = "schema: { type: array, items: { type: string } }"
    nodes = ASKS.replace("options: [main, release]", form).replace("branch", "branches")
    tree = TREE.replace('branch: {{ type: str, default: "" }}', "branches: {{ type: list, default: [] }}")
    played = play(tmp_path, nodes, "model: [Done.]\npeople: [{ answer: [main, release] }]\n", tree=tree)
    assert played.blackboard["branches"] == ["main", "release"]
    assert of(played, QuestionAsked)[0].interrupt.response_schema == {"type": "array", "items": {"type": "string"}}


def test_several_things_can_be_asked_side_by_side(tmp_path):
    question = ASKS.partition("\n")[0].removeprefix("- ")
    approve = "approve: { message: It?, child: { say: It. } }"
    nodes = f"- parallel: {{ success: all, children: [{{ {question} }}, {{ {approve} }}] }}\n"
    people = "[{ answer: main, after_s: 9 }, { approve: once, after_s: 3 }]"
    played = play(tmp_path, nodes + "- llm_turn\n", f"model: [Done.]\npeople: {people}\n")
    assert kinds(played)[:5] == ["question", "approval_requested", "answered", "content", "answered"]
    assert (played.blackboard["branch"], played.answer.text) == ("main", "It.\n\nDone.")


WRONG = {
    "ask_user: { question: Which?, into: branch, expires: soon }": "a time is a whole number with s, m, h or d",
    "ask_user: { question: Which?, into: branch, expires: 999d }": "a year at most",
    "ask_user: { question: Which?, into: branch, answered_by: boss }": "answered_by",
    "ask_user: { question: Which?, into: branch, answered_by: { not: me } }": "asker",
    "ask_user: { question: Which?, into: branch, options: [''] }": "at least 1 character",
    "ask_user: { question: Which?, into: branch, options: [a], default: b }": "the default is no answer",
    "ask_user: { question: Which?, into: branch, options: [a], schema: { type: string } }": "not both",
    "ask_user: { question: Which?, into: branch, schema: { items: {} } }": "the schema needs a 'type'",
    "ask_user: { question: Which?, into: branch, schema: { type: string, pattern: '(' } }": "this is no JSON schema",
    "ask_user: { question: Which?, into: branch, schema: { type: string, maxLength: 1 }, default: ab }": "is no answer",
    "ask_user: { question: Which?, into: branch, default: 7 }": "the default is no answer",
    "ask_user: { question: Which?, into: turn }": "'turn'",
    "approve: { child: { say: It. } }": "message",
    'run_tools: { approve: [{ tool: vault_write, when: "path ==" }] }': "is no expression",
}


@pytest.mark.parametrize(("node", "words"), WRONG.items(), ids=WRONG)
def test_a_wrong_setting_is_a_mistake_of_the_tree(node, words):
    library = TreeLibrary([FOLDER], registry=REGISTRY)
    with pytest.raises(TreeFileError) as found:
        library.read_text(TREE.format(nodes=textwrap.indent(f"- {node}\n", " " * 8)))
    assert words in str(found.value)


# Approvals of nodes

APPROVES = """\
- selector:
    - approve: { message: "May it be {query_type}?", child: { say: It was done. } }
    - say: It was not done.
- llm_turn
"""


@pytest.mark.parametrize(
    ("decision", "said"), [("approve", "It was done."), ("refuse", "It was not done."), ("expire", "It was not done.")]
)
def test_a_node_is_run_when_a_person_approves_it(tmp_path, decision, said):
    played = play(tmp_path, APPROVES, f"model: [Done.]\npeople: [{decision}]\n")
    assert played.answer.text == f"{said}\n\nDone."
    (asked,) = of(played, ApprovalRequested)
    assert (asked.interrupt.reason, asked.interrupt.message) == ("confirmation", "May it be code?")
    assert asked.interrupt.may == ("approve", "refuse")


# Approvals of calls


def test_a_call_is_run_when_a_person_approves_it(tmp_path):
    played = writes(tmp_path, "[approve]", [CALL])
    assert played.tool_runs == (("vault_write", {"path": "drafts/a.md", "body": "One."}),)
    assert kinds(played)[:4] == ["tool_call", "approval_requested", "answered", "tool_result"]
    (asked,) = of(played, ApprovalRequested)
    assert asked.interrupt.may == ("approve", "refuse", "edit")
    assert asked.interrupt.tool_name == "vault_write"
    assert asked.interrupt.arguments == {"path": "drafts/a.md", "body": "One."}
    assert asked.interrupt.arguments_digest.startswith("sha256:")
    assert asked.interrupt.response_schema["properties"].keys() >= {"path", "body"}


@pytest.mark.parametrize(
    ("decision", "result"),
    [
        ("refuse", "Not run: a person refused this call.\nDo not ask for the same call again."),
        (
            "{ refuse: Not there. }",
            "Not run: a person refused this call. They said: Not there.\nDo not ask for the same call again.",
        ),
        (
            "expire",
            "Not run: nobody answered in time whether this call may be made. Do not ask for the same call again.",
        ),
    ],
)
def test_a_refusal_is_the_result_of_the_call(tmp_path, decision, result):
    played = writes(tmp_path, f"[{decision}]", [CALL])
    assert not played.tool_runs
    (returned,) = of(played, ToolReturned)
    assert (returned.tool_result, returned.is_error) == (result, True)
    assert result.partition("\n")[0] in played.asked[-1].sends
    assert played.done.termination_reason == "completed"


def test_arguments_of_a_person_replace_the_whole_and_the_model_reads_of_it(tmp_path):
    played = writes(tmp_path, "[{ edit: { path: drafts/b.md, body: Two. } }]", [CALL])
    assert played.tool_runs == (("vault_write", {"path": "drafts/b.md", "body": "Two."}),)
    (result,) = results(played)
    assert result.startswith("A person has changed the arguments of this call before it was run, to: {")
    assert '"drafts/b.md"' in played.asked[-1].sends
    (answered,) = of(played, Answered)
    assert (answered.interrupt.status, answered.arguments["body"]) == ("edited", "Two.")


def test_the_same_call_is_not_put_to_a_person_again(tmp_path):
    played = writes(tmp_path, "[{ refuse: No. }, approve]", [CALL], [CALL])
    assert not played.tool_runs
    assert len(of(played, ApprovalRequested)) == 1
    first, second = results(played)
    assert first == second


def test_a_tool_that_is_allowed_for_the_conversation_needs_no_further_question(tmp_path):
    played = writes(tmp_path, "[{ approve: conversation }]", [CALL], [OTHER])
    assert [arguments["path"] for _, arguments in played.tool_runs] == ["drafts/a.md", "drafts/b.md"]
    assert len(of(played, ApprovalRequested)) == 1
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["approved", "approved"]


@pytest.mark.parametrize("who", ["operator", "{ not: asker }"])
def test_what_the_user_has_allowed_another_person_is_asked_all_the_same(tmp_path, who):
    """Otherwise a user would allow it in a tree, or a node, that asks the user, and go on in one that does not."""
    turns = "".join(
        f"- llm_turn\n- run_tools: {{ approve: [vault_write], answered_by: {by} }}\n" for by in ("user", who)
    )
    model = f"- calls: [{{ {CALL} }}]\n- calls: [{{ {OTHER} }}]\n- Done."
    scenario = f"model:\n{model}\npeople: [{{ approve: conversation }}, refuse]\n"
    played = play(tmp_path, f"- offer_tools: [vault_write]\n{turns}{END}", scenario)
    assert [arguments["path"] for _, arguments in played.tool_runs] == ["drafts/a.md"]
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["approved", "refused"]


def test_calls_that_need_nobody_run_at_once_and_each_other_one_when_it_is_approved(tmp_path):
    people = "[{ approve: once, after_s: 9 }, { approve: once, after_s: 5 }]"
    played = writes(tmp_path, people, [SEARCH, CALL, OTHER])
    assert [arguments.get("path") for _, arguments in played.tool_runs] == [None, "drafts/b.md", "drafts/a.md"]
    assert kinds(played)[3:10] == [
        *("approval_requested", "approval_requested", "tool_result"),
        *("answered", "tool_result", "answered", "tool_result"),
    ]
    sent = played.asked[-1].sends
    assert sent.index("search_code(") < sent.index("path=drafts/a.md") < sent.index("path=drafts/b.md")


def test_answers_that_come_together_count_each(tmp_path):
    played = writes(tmp_path, "[approve, { refuse: No. }]", [CALL, OTHER])
    assert [arguments["path"] for _, arguments in played.tool_runs] == ["drafts/a.md"]
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["approved", "refused"]


def test_identical_calls_are_one_question_and_one_run(tmp_path):
    played = writes(tmp_path, "[approve]", [CALL, CALL])
    assert len(played.tool_runs) == len(of(played, ApprovalRequested)) == 1
    assert len(results(played)) == 2


@pytest.mark.parametrize(
    ("path", "when", "questions"),
    [
        ("drafts/a.md", "not startswith(path, 'drafts/')", 0),
        ("notes/a.md", "not startswith(path, 'drafts/')", 1),
        ("notes/a.md", "len(title) > 3", 1),
        ("notes/a.md", "title is not null", 0),
    ],
)
def test_a_condition_over_the_arguments_says_which_calls_need_a_person(tmp_path, path, when, questions):
    """Where it cannot be evaluated, the person is asked."""
    call = f"vault_write: {{ path: {path}, body: x }}"
    played = writes(tmp_path, "[approve]", [call], policy=f'{{ tool: "vault_*", when: "{when}" }}')
    assert len(of(played, ApprovalRequested)) == questions
    assert len(played.tool_runs) == 1


def test_a_call_that_cannot_be_run_is_not_put_to_a_person(tmp_path):
    played = writes(tmp_path, "[approve]", ["thread_push: { thread: a }"], policy="thread_push")
    assert not of(played, ApprovalRequested)
    assert "is not offered" in results(played)[0]


def test_calls_beyond_the_limit_of_a_turn_are_neither_run_nor_asked_about(tmp_path):
    played = writes(tmp_path, "[approve]", [CALL, SEARCH, OTHER], more="limits: { max_tool_calls_per_turn: 2 }\n")
    assert len(of(played, ApprovalRequested)) == 1
    assert [name for name, _ in played.tool_runs] == ["search_code", "vault_write"]
    assert any(text.startswith("Not run: at most 2 tool calls") for text in results(played))


def test_a_cancel_answers_what_has_not_run(tmp_path):
    more = "events: [cancel: { at_s: 3 }]\ntools: { search_code: Found. }\n"
    played = writes(tmp_path, "[{ approve: once, after_s: 9 }]", [SEARCH, CALL], more=more)
    assert results(played) == ["Found.", "Cancelled: the run was stopped before this call had ended."]
    assert [chunk.interrupt.status for chunk in of(played, Answered)] == ["withdrawn"]


def test_a_cancel_keeps_what_parts_of_the_calls_have_brought(tmp_path):
    more = "events: [cancel: { at_s: 3 }]\ntools: { search_code: { hang: true } }\n"
    people = "[approve, { approve: once, after_s: 9 }]"
    played = writes(tmp_path, people, [SEARCH, CALL, OTHER], more=more)
    assert [arguments.get("path") for _, arguments in played.tool_runs] == [None, "drafts/a.md"]
    assert len(results(played)) == 3
    assert len([text for text in results(played) if text.startswith("Cancelled")]) == 2


@pytest.mark.parametrize("policy", ["", "vault_write"])
def test_calls_of_a_later_turn_are_run_after_a_halt(tmp_path, policy):
    """What a halted node has kept is not taken for the results of other calls."""
    tools = f"force_success: {{ timeout: {{ seconds: 5, child: {{ run_tools: {{ approve: [{policy}] }} }} }} }}"
    nodes = f"- loop: {{ until: turn == 2, child: {{ sequence: [llm_turn, {{ {tools} }}] }} }}\n{END}"
    scenario = (
        f"model:\n- calls: [{{ {SEARCH} }}, {{ read_file: {{ path: a }} }}]\n- calls: [{{ {SEARCH} }}]\n- Done.\n"
        "tools: { read_file: { hang: true }, search_code: Found. }\n"
    )
    played = play(tmp_path, nodes, scenario)
    assert [name for name, _ in played.tool_runs] == ["search_code", "read_file", "search_code"]
    assert [text.partition(":")[0] for text in results(played)] == ["Found.", "Cancelled", "Found."]


# Runs that are repeated

PARTS = """\
- offer_tools: [vault_write]
- llm_turn
- run_tools: { approve: [vault_write] }
- force_success: { ask_user: { question: "Which branch?", into: branch } }
- approve: { message: "Is it enough?", child: { say: Enough. } }
- llm_turn
- stop: completed
"""


def repeated(answered):
    """The run again, from its tick records alone, and what it asked then."""
    asked, clock = [], StillClock()
    equipment = replace(answered.agent.equipment, clock=clock, model=UnaskedModel("none"))
    definition = TreeLibrary([FOLDER], registry=REGISTRY).read_text(
        TREE.format(nodes=textwrap.indent(PARTS, " " * 8)), file="asks.yaml"
    )
    opened = open_agent(
        answered.agent.query,
        definition,
        equipment=equipment,
        store=MemoryConversations(new_id=lambda: "c"),
        emit=asked.append,
        rules="none",
    )

    def before_outcome(request, outcome):
        if isinstance(outcome.value, TurnOutcome):
            opened.agent.output.new_paragraph()
            opened.agent.output.say(outcome.value.text)

    def before_tick(record):
        clock.now_s = record.at_s

    again = replay(opened.tree, answered.recording, before_tick=before_tick, before_outcome=before_outcome)
    return again, [chunk for chunk in asked if isinstance(chunk, Answered | ApprovalRequested | QuestionAsked)]


DECISIONS = {
    "all is approved": [{"decision": "approve"}] * 2,
    "one is refused": [{"decision": "approve"}, {"decision": "refuse", "comment": "No."}],
    "one is changed": [{"decision": "edit", "arguments": {"path": "c.md", "body": "c"}}, {"decision": "expire"}],
    "the whole conversation": [{"decision": "approve", "for": "conversation"}, {"decision": "withdraw"}],
}


@pytest.mark.parametrize("decisions", DECISIONS.values(), ids=DECISIONS)
@pytest.mark.parametrize("other", ["answer", "expire", "cancel"])
async def test_a_run_that_asked_people_is_repeated_from_its_record(decisions, other):
    writes = [calls("vault_write", path=f"{name}.md", body=name) for name in "ab"]
    script = [says("", calls("vault_list", folder="plans"), *writes), answers("Done.")]
    left = iter([*decisions, {"decision": other, "answer": "main"}, {"decision": "approve"}])
    async with harness(script, wire=False) as it:
        it.write_tree("asks", TREE.format(nodes=textwrap.indent(PARTS, " " * 8)))

        def decide(interrupt):
            if other == "cancel" and interrupt.reason == "input_required":
                underway.cancel()
            return next(left)

        underway = await it.start(tree="asks", decide=decide)
        answered = await underway.result()
    again, asked = repeated(answered)
    assert again.diverged_at is None
    assert not again.missing
    kept = [each for each in answered.chunks if isinstance(each, Answered | ApprovalRequested | QuestionAsked)]
    assert [(each.type, without_times(each.interrupt)) for each in asked] == [
        (each.type, without_times(each.interrupt)) for each in kept
    ]


def without_times(interrupt):
    return replace(interrupt, expires_at=None, answered_at=None)
