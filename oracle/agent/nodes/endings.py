"""Kinds that speak to the user and end the query: `notify`, `say`, `stop`, `explain_stop` and `finish`."""

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final

from pydantic import Field

from bt_runtime import Facts, Kind, NodeSettings, NoSettings, Status, Stepped, Words, node
from bt_runtime.kinds.leaves import Notify, NotifySettings
from bt_runtime.language.kind import Case, TemplateText, filled, leaf
from bt_runtime.text.phrases import clipped
from oracle.agent import notices
from oracle.agent.closing import explain_stop
from oracle.agent.nodes.base import AgentAction, AgentNode
from oracle.agent.nodes.roles import EXPLAINS_STOP, FINISHES, SPEAKS, STOPS
from oracle.agent.notices import quoted
from oracle.core.chunks import TerminationReason, Topic


class AgentNotifySettings(NotifySettings):
    """Settings of `notify`.

    Args:
        message: the text; `{key}` shows a blackboard value.
        topic: the topic, for clients that treat some notices differently.
        severity: `info`, `warning` or `error`.
    """

    topic: Topic = "notice"


AGENT_NOTIFY: Final[Kind] = replace(Notify.kind, settings=AgentNotifySettings, flow=leaf(Case("success")))


class SaySettings(NodeSettings):
    """Settings of `say`.

    Args:
        text: the text; `{key}` shows a blackboard value.
    """

    text: TemplateText = Field(min_length=1, max_length=2000)


@node(
    "say",
    settings=SaySettings,
    shorthand="text",
    facts=Facts(roles=(SPEAKS,), shows=True),
    flow=leaf(Case("success", facts={"answer": "yes"})),
)
class Say(AgentNode[SaySettings]):
    """Adds a paragraph to the answer.

    SUCCESS, always. After `explain_stop` it adds nothing.

    ```yaml
    say: "I would need {capability} for that, which I do not have here."
    ```
    """

    def update(self) -> Status:
        text = filled(self.settings.text, self.board, show=lambda value: quoted(str(value)))
        self.agent.output.say_sentence(text)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        text = clipped(filled(self.settings.text, self.board, show=lambda value: quoted(str(value))), 120)
        if self.agent.output.is_closed:
            return Words("adds nothing", "It adds nothing: the answer ends with the sentence that says why it stopped.")
        return Words(f'said "{text}"', f'It adds to the answer: "{text}"')


class StopSettings(NodeSettings):
    """Settings of `stop`.

    Args:
        reason: the `termination_reason` that the client gets.
    """

    reason: TerminationReason


@node(
    "stop",
    settings=StopSettings,
    shorthand="reason",
    facts=Facts(roles=(STOPS,)),
    flow=leaf(Case("success", stops=True)),
)
class Stop(AgentNode[StopSettings]):
    """Stops the run with a reason; a loop with `until: termination_reason` ends then.

    SUCCESS, always. Only the first reason counts.

    ```yaml
    stop: completed
    ```
    """

    def update(self) -> Status:
        signal = self.agent.signals.latest
        reason = getattr(signal, "reason", "")
        repeated = f"it kept asking for another turn: {reason}" if reason else ""
        self.agent.ending.note_blocker(getattr(signal, "blocker", "") or notices.silence(self.agent.state) or repeated)
        self.stop_run(self.settings.reason)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        reason, wanted, blocker = self.board["termination_reason"], self.settings.reason, self.agent.ending.blocker
        if reason != wanted:
            return Words(f"{wanted}; the reason stays {reason}", f"The run had stopped before: {reason}.")
        because = f": {clipped(blocker, 120)}" if wanted == "stuck" and blocker else ""
        return Words(f"{wanted}{because}", f"The run stops as {wanted}{because}.")


@node("explain_stop", facts=Facts(roles=(EXPLAINS_STOP,)), flow=leaf(Case("success", stops=True)))
class ExplainStop(AgentNode[NoSettings]):
    """Tells the user why the run stopped, in a notice and a last sentence, unless it simply completed.

    SUCCESS, always.

    ```yaml
    explain_stop:
    ```
    """

    def update(self) -> Status:
        self.agent.ending.note_errors(self.run.errors)
        explain_stop(self.agent)
        self.stop_run(self.agent.state.termination_reason or "completed")
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:
        reason = self.board["termination_reason"]
        written = next((write.before for write in step.writes if write.key == "termination_reason"), "")
        if written:
            return Words(f"{reason}, not {written}", f"The facts do not support {written}: the run ends as {reason}.")
        return Words(reason, f"The run ends as {reason}.")


@node(
    "finish",
    facts=Facts(roles=(FINISHES,)),
    flow=leaf(Case("success", facts={"closed": "yes"}), Case("failure", facts={"closed": None}, fault=True)),
)
class Finish(AgentAction[NoSettings]):
    """Saves the question and the answer in the conversation, then ends the stream.

    RUNNING while it saves; then SUCCESS. Without `finish` the service does this.

    ```yaml
    finish:
    ```
    """

    def start(self) -> Coroutine[Any, Any, None]:
        return self.host.closing.finish(self.agent, asked_at=self.host.asked_at)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the status says it
        if self.status is Status.RUNNING:
            return Words("saves the answer", "The answer is being saved.")
        return Words("saved", "The answer is saved.") if self.status is Status.SUCCESS else Words()
