"""The `judge_context` kind."""

from bt_runtime import Facts, Figure, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import counted
from oracle.agent.gathering.sufficiency import REASONS
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import JUDGES_CONTEXT

_SAYS = {
    "": "the last tools brought something new",
    "nothing_new": "something was found, and the last tools brought nothing new",
    "said_so": "the model says that it has what it needs",
    "nothing_found": "nothing was found, whatever was tried",
    "answered": "the sources that the question needs have answered",
}


@node(
    "judge_context",
    facts=Facts(roles=(JUDGES_CONTEXT,)),
    flow=leaf(Case("success", writes={**LAGGING, "sufficient": ("", *REASONS)})),
)
class JudgeContext(AgentNode[NoSettings]):
    """Judges whether the answer can be given from what the tools have found.

    SUCCESS, always. Writes `sufficient`, why more calls are not expected to bring anything: `nothing_new`, `said_so`,
    `nothing_found` or `answered`; empty if they may. A heuristic judges, or what was put in its place.

    ```yaml
    judge_context:
    ```
    """

    def update(self) -> Status:
        agent = self.agent
        agent.gathering.judge(agent.equipment.sufficiency, turn=agent.state.turn)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the run says it
        gathering = self.agent.gathering
        gathered, why = gathering.gathered, _SAYS[gathering.verdict.reason]
        figures = (
            Figure("calls", len(gathered.tried)),
            Figure("sources", len(gathered.sources)),
            Figure("turns without news", gathered.dry_turns),
        )
        basis = f"{counted(len(gathered.tried), 'call')}, {counted(len(gathered.sources), 'source')}"
        sentence = "The context suffices" if gathering.verdict.suffices else "The context does not suffice yet"
        return Words(f"{why} · {basis}", f"{sentence}: {why} ({basis}).", figures)
