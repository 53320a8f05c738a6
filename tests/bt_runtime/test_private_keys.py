"""Private keys of subtrees, their outputs, and parameters in expressions."""

import pytest

from bt_runtime import Status, TreeFileError, TreeLibrary, build, replay
from bt_runtime.analysis.files import check_files
from bt_runtime.testing import FakeClock, FakeHost, registry_of, run_tree
from tests.bt_runtime.running import S, tree

COUNTER = """\
tree: counter
parameters: {step: {type: int, default: 1}}
blackboard:
  tries: {type: int, default: 0, private: true, description: How often.}
  last: {type: str, default: none, private: true}
  log: {type: list, default: []}
root:
  sequence:
    - set: {tries: tries + step, log: "log + [tries]", last: "'at the end'"}
    - notify: "Try {tries}."
    - force_success: {condition: "tries > 2"}
"""


async def run(folder, root, *, files=(COUNTER,), **options):
    for text in (*files, tree(root)):
        (folder / f"{text.split()[1]}.yaml").write_text(text)
    registry = registry_of()
    definition = TreeLibrary([folder], registry=registry).load("demo")
    return await run_tree(definition, registry=registry, host=FakeHost(), **options)


TWICE = """
sequence:
  - repeat: {times: 3, child: {subtree: {name: one, tree: counter, out: {tries: count}}}}
  - subtree: {name: two, tree: counter, with: {step: 10}, out: {tries: turn, last: hint}}
"""


async def test_each_inclusion_has_a_copy_of_its_own_that_keeps_its_value(tmp_path):
    ran = await run(tmp_path, TWICE)
    assert (ran.status, ran.result.errors) == (S, ())
    assert (ran.value("count"), ran.value("turn"), ran.value("hint")) == (3, 10, "at the end")
    assert ran.value("log") == [1, 2, 3, 10]
    assert [notice["message"] for notice in ran.tree.context.host.notices] == ["Try 1.", "Try 2.", "Try 3.", "Try 10."]


async def test_records_show_private_keys_under_the_path_of_their_subtree(tmp_path):
    ran = await run(tmp_path, TWICE)
    written = {key for record in ran.recording for key, _ in record.writes}
    assert {"sequence/repeat/one/tries", "sequence/two/tries", "sequence/two/last"} <= written
    assert "tries" not in ran.tree.blackboard
    assert ran.tree.definition.keys["sequence/two/tries"].description == "How often."
    replayed = replay(build(ran.tree.definition, registry=registry_of(), host=FakeHost()), ran.recording)
    assert (replayed.records, replayed.diverged_at) == (tuple(ran.recording), None)


async def test_a_private_key_is_invisible_outside_and_a_key_of_that_name_is_another(tmp_path):
    with pytest.raises(TreeFileError, match="there is no blackboard key or parameter 'tries'"):
        await run(tmp_path, "sequence: [{subtree: counter}, {condition: tries > 0}]")
    text = tree("sequence: [{set: {tries: 7}}, {subtree: {tree: counter, out: {tries: count}}}]")
    (tmp_path / "demo.yaml").write_text(text.replace("  count:", "  tries: int\n  count:", 1))
    registry = registry_of()
    ran = await run_tree(TreeLibrary([tmp_path], registry=registry).load("demo"), registry=registry, host=FakeHost())
    assert (ran.value("tries"), ran.value("count")) == (7, 1)


OUTER = """\
tree: outer
blackboard: {tries: {type: int, default: 100, private: true}}
root: {sequence: [{subtree: {tree: counter, out: {tries: tries}}}, {condition: tries == 1}]}
"""


async def test_an_output_may_go_to_a_private_key_of_the_including_tree(tmp_path):
    ran = await run(tmp_path, "subtree: outer", files=(COUNTER, OUTER))
    assert ran.status is S
    assert ran.value("subtree/tries") == 1
    assert ran.value("subtree/sequence/subtree/tries") == 1


async def test_a_tree_that_is_run_itself_may_have_private_keys(tmp_path):
    registry = registry_of()
    (tmp_path / "counter.yaml").write_text(COUNTER)
    ran = await run_tree(TreeLibrary([tmp_path], registry=registry).load("counter"), registry=registry, host=FakeHost())
    assert (ran.status, ran.value("counter/tries")) == (S, 1)


EVERY = """\
tree: every
blackboard:
  i: {type: int, private: true}
  word: {type: str, private: true}
  all: {type: str, default: '', private: true}
  done: {type: bool, default: false, private: true}
root:
  sequence:
    - for_each: {in: [a, b], as: word, index: i, child: {set: {all: all + word}}}
    - parallel: [{wait: {until: done}}, {sequence: [{scripted: [RUNNING, SUCCESS]}, {set: {done: true}}]}]
    - retry: {attempts: i + 1, child: {if: {when: done, then: {switch: {value: all, cases: {ab: {set: {i: 9}}}}}}}}
    - action: {call: join, with: {text: all}, into: word}
"""


async def test_every_kind_reads_and_writes_private_keys(tmp_path):
    (tmp_path / "every.yaml").write_text(EVERY)
    registry = registry_of()
    ran = await run_tree(
        TreeLibrary([tmp_path], registry=registry).load("every"),
        registry=registry,
        host=FakeHost({"join": lambda arguments: f"<{arguments['text']}>"}),
    )
    assert (ran.status, ran.result.errors) == (S, ())
    assert {key: ran.value(f"every/{key}") for key in ("i", "word", "all", "done")} == {
        "i": 9,
        "word": "<ab>",
        "all": "ab",
        "done": True,
    }


async def test_outputs_are_copied_after_a_failure_and_not_after_a_halt(tmp_path):
    failing = (
        "tree: failing\nblackboard: {n: {type: int, default: 0, private: true}}\nroot: {sequence: [set: {n: 4}, %s]}\n"
    )
    ran = await run(
        tmp_path,
        "force_success: {subtree: {tree: failing, out: {n: count}}}",
        files=(failing % "condition: n > 9",),
    )
    assert ran.value("count") == 4
    ran = await run(
        tmp_path,
        "force_success: {timeout: {seconds: 1, child: {subtree: {tree: failing, out: {n: count}}}}}",
        files=(failing % "wait: 9",),
        clock=FakeClock(),
    )
    assert (ran.status, ran.value("count")) == (S, 0)


MISTAKES = [
    ("subtree: {tree: counter, out: {tires: count}}", 34, "has no private key 'tires'", "did you mean 'tries'?"),
    ("subtree: {tree: counter, out: {log: count}}", 34, "has no private key 'log'", "share the keys"),
    ("subtree: {tree: counter, out: {x: count}}", 34, "has no private key 'x'", "private keys: "),
    ("subtree: {tree: counter, out: {last: count}}", 40, "'last' is declared as str, but 'count' as int", "same type"),
    ("subtree: {tree: counter, out: {tries: cuont}}", 41, "there is no blackboard key 'cuont'", "did you mean 'count'"),
    ("subtree: {tree: counter, out: {tries: cancel_requested}}", 41, "can only be read", "declare a key"),
]


@pytest.mark.parametrize(("root", "column", "message", "hint"), MISTAKES)
async def test_wrong_outputs_are_mistakes_at_their_place(tmp_path, root, column, message, hint):
    with pytest.raises(TreeFileError) as wrong:
        await run(tmp_path, root)
    found = next(mistake for mistake in wrong.value.mistakes if message in mistake.message)
    assert (found.place.line, found.place.column) == (10, column)
    assert hint in found.hint


DECLARATIONS = [
    ("count: {type: int, private: 1}", "'private' must be true or false, not 1"),
    ("cancel_requested: {type: bool, private: true}", "is a key of the host"),
    ("termination_reason: {type: str, from: delivery}", "is a key of the host"),
]


@pytest.mark.parametrize(("declared", "message"), DECLARATIONS)
async def test_wrong_declarations_are_mistakes(tmp_path, declared, message):
    (tmp_path / "demo.yaml").write_text(f"tree: demo\nblackboard: {{{declared}}}\nroot: {{wait: 1}}\n")
    with pytest.raises(TreeFileError, match=message):
        TreeLibrary([tmp_path], registry=registry_of()).load("demo")


# --- parameters in expressions

REMIND = "tree: remind\nparameters: {of: str}\nblackboard: {hint: {type: str, default: ''}}\nroot: "


async def test_a_parameter_in_an_expression_is_a_name_whatever_its_text(tmp_path):
    ran = await run(
        tmp_path,
        "subtree: {tree: remind, with: {of: \"don't ${guess} 'it'\"}}".replace("${", "$${"),
        files=(REMIND + "{set: {hint: \"'Remember: ' + of\"}}\n",),
    )
    assert ran.value("hint") == "Remember: don't ${guess} 'it'"


PLACEHOLDERS = ["'Remember: ${of}true'", "'Remember: ' + ${of}", "${of} + 'x'", "of + '${of}'"]


@pytest.mark.parametrize("expression", PLACEHOLDERS)
@pytest.mark.parametrize(
    "node",
    ['{set: {hint: "%s"}}', '{condition: "%s"}', '{wait: {until: "%s"}}', '{retry: {attempts: "%s", child: inverter}}'],
)
async def test_a_placeholder_inside_an_expression_is_a_mistake_also_when_the_subtree_is_checked_alone(
    tmp_path, expression, node
):
    (tmp_path / "remind.yaml").write_text(REMIND + node % expression + "\n")
    report = check_files(TreeLibrary([], registry=registry_of()), [tmp_path / "remind.yaml"])
    mistakes = [each for each in report.mistakes if "takes a parameter by its name" in each.message]
    assert len(mistakes) == 1
    assert "write of, outside of quotes" in mistakes[0].hint


async def test_an_argument_that_is_no_expression_is_a_mistake_at_the_argument(tmp_path):
    with pytest.raises(TreeFileError) as wrong:
        await run(
            tmp_path,
            'subtree: {tree: remind, with: {of: "don\'t guess"}}',
            files=(REMIND + '{set: {hint: "${of}"}}\n',),
        )
    (mistake,) = wrong.value.mistakes
    assert (mistake.place.file.endswith("demo.yaml"), mistake.place.line) == (True, 10)


async def test_private_keys_are_kept_apart_while_two_inclusions_run_side_by_side(tmp_path):
    worker = """\
tree: worker
parameters: {n: int}
blackboard: {mine: {type: int, default: 0, private: true}, found: any}
root: {sequence: [{set: {mine: n}}, {wait: 1}, {set: {mine: mine * 10}}]}
"""
    ran = await run(
        tmp_path,
        """
parallel:
  - subtree: {tree: worker, with: {n: 1}, out: {mine: count}}
  - subtree: {tree: worker, with: {n: 2}, out: {mine: turn}}
""",
        files=(worker,),
    )
    assert (ran.status, ran.value("count"), ran.value("turn")) == (S, 10, 20)
    assert Status.RUNNING not in {node.status for node in ran.tree.nodes}
