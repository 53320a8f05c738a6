"""Kinds of other packages are proven, refuted and judged by what they declare, like the shipped ones."""

from bt_runtime import DeliveryUse, Facts, KeyUse, Node, NodeSettings, Status, Words, node
from bt_runtime.analysis.files import warnings_of
from bt_runtime.library.named import read_tree
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.llm_turn import LlmTurn, LlmTurnSettings
from oracle.features.verifier.exploring import Bounds
from oracle.features.verifier.verify import Scope, verify
from tests.oracle.features.verifier.verified import GUARDED, guarded


class ApprovalSettings(NodeSettings):
    """Settings of `approval`.

    Args:
        key: the delivered key with the answer.
        into: the key that gets how often the node was ticked.
    """

    key: str
    into: str

    def uses(self):
        yield DeliveryUse(("key",), self.key)
        yield KeyUse(("into",), self.into, "write", "int")


class Approving(Node[ApprovalSettings]):
    """Waits for an approval from outside.

    SUCCESS if it is granted, or the model has enough; FAILURE if it is refused; RUNNING until then.
    """

    _ticks = 0

    def initialise(self):
        self._ticks = 0

    def update(self):
        self._ticks += 1
        answer = self.board[self.settings.key]
        if answer is None:
            self.run.wake_on_change(self.index, self.path, [self.settings.key])
            return Status.RUNNING
        self.board.set(self.settings.into, self._ticks)
        return Status.SUCCESS if answer or self.board["signal"] == "context_sufficient" else Status.FAILURE

    def terminate(self, new_status):
        self.run.forget_changes(self.index)

    def words(self, step):
        return Words(f"asked {self._ticks} times")


def approval(**declared):
    """The kind, with these facts."""
    cls = type("Approval", (Approving,), {"__doc__": Approving.__doc__})
    return node("approval", category="action", settings=ApprovalSettings, waits=True, **declared)(cls).kind


DECLARED = Facts(keeps=("_ticks",), reads=("signal",))
KEYS = """  approved: { type: bool, from: delivery }
  ticks: { type: int, default: 0 }
  missing: { type: int, default: null }
"""
HANDLED = """
sequence:
  - llm_turn: { tools: false }
  - selector: [{ approval: { key: approved, into: ticks } }, { stop: stuck }]
  - stop: completed
"""
UNHANDLED = """
sequence:
  - llm_turn: { tools: false }
  - selector: [{ approval: { key: approved, into: ticks } }, { condition: "missing > ticks" }]
  - stop: completed
"""


def explored(text, *kinds):
    registry = REGISTRY.extended(kinds)
    indented = text.strip().replace("\n", "\n" + " " * 14)
    source = GUARDED.format(child=" " * 14 + indented, more=KEYS, max_turns=3)
    tree = read_tree(source, file="sample.yaml", registry=registry)
    return tree, verify(tree, Scope(turns=2, bounds=Bounds(states=5_000), registry=registry))


def test_a_declared_kind_that_keeps_reads_writes_and_waits_is_proven():
    _, report = explored(HANDLED, approval(facts=DECLARED))
    assert report.verdict == "proven", report.lines()


def test_a_declared_kind_is_refuted_with_the_delivery_that_breaks_the_tree():
    _, report = explored(UNHANDLED, approval(facts=DECLARED))
    result = report.result("no-errors")
    assert result.verdict == "refuted"
    assert result.story is not None
    assert any("'approved' gets the value False" in line for line in result.story.lines())
    assert any("approval (sample.yaml" in line and "FAILURE" in line for line in result.story.lines())


def test_of_a_tree_with_a_kind_that_declares_nothing_nothing_is_proven():
    _, report = explored(HANDLED, approval())
    assert report.verdict == "not_decided"
    assert "the kind 'approval' does not declare what it reads and keeps" in report.result("reason").problem


def test_a_kind_that_declares_nothing_is_refuted_like_any_other():
    _, report = explored(UNHANDLED, approval())
    assert report.result("no-errors").verdict == "refuted"


def draft_turn():
    cls = type("DraftTurn", (LlmTurn,), {"__doc__": "A turn of another package."})
    turn = {"settings": LlmTurnSettings, "facts": LlmTurn.kind.facts, "flow": LlmTurn.kind.flow}
    return node("draft_turn", **turn)(cls).kind


def test_a_kind_that_asks_the_model_is_answered_like_llm_turn():
    same = HANDLED.replace("llm_turn", "draft_turn")
    _, own = explored(same, approval(facts=DECLARED), draft_turn())
    _, shipped = explored(HANDLED, approval(facts=DECLARED))
    assert own.verdict == "proven"
    assert (own.states, own.transitions) == (shipped.states, shipped.transitions)


def test_a_kind_that_asks_the_model_is_warned_of_like_llm_turn():
    registry = REGISTRY.extended([draft_turn()])
    text = "tree: sample\nroot:\n  sequence:\n    - draft_turn\n    - stop: completed\n"
    tree = read_tree(text, file="sample.yaml", registry=registry)
    assert [(each.code, each.place.line) for each in warnings_of(tree, registry=registry)] == [("no-prompt", 4)]


def test_what_only_a_later_round_of_a_loop_reads_tells_states_apart():
    tree = guarded(
        """
sequence:
  - if: { when: flag, then: { condition: "missing > 3" } }
  - llm_turn: { tools: false }
  - set: { flag: "signal == 'stuck'" }
  - llm_turn: { tools: false }
  - selector:
      - sequence: [{ condition: "signal == 'need_turn'" }, grant_turn]
      - stop: completed
""",
        more="  flag: { type: bool, default: false }\n  missing: { type: int, default: null }",
    )
    assert verify(tree, Scope(turns=3)).result("no-errors").verdict == "refuted"
