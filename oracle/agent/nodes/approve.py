"""The `approve` kind."""

from collections.abc import Sequence

from pydantic import Field

from bt_runtime import Facts, Status, Stepped, Words, node
from bt_runtime.kinds.action import CallAction
from bt_runtime.language.kind import TemplateText
from bt_runtime.nodes.base import Decorator
from bt_runtime.nodes.wording import says
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.asking import AskingSettings, people_of, shown_text, wait_for_answer
from oracle.agent.nodes.roles import ASKS_PERSON
from oracle.core.chunks import Decision


class ApproveSettings(AskingSettings):
    """Settings of `approve`.

    Args:
        message: what is to be approved; `{key}` stands for a blackboard value.
        expires: how long an answer may take: `30m`, `12h`, `7d`; `null`: without end.
        answered_by: who may answer: the `user` whose query it is, an `operator`, or `{not: asker}`.
    """

    message: TemplateText = Field(min_length=1, max_length=4000)


@node("approve", settings=ApproveSettings, waits=True, acts=True, facts=Facts(roles=(ASKS_PERSON,), shows=True))
class Approve(Decorator[ApproveSettings]):
    """Asks a person whether its child may be run.

    RUNNING while it waits for the decision; then SUCCESS, FAILURE and RUNNING as the child; FAILURE, without the child,
    when the person refuses or nobody has decided in time, and, without asking, where the query has stopped already. A
    halt withdraws the question. It asks each time that it begins.

    ```yaml
    approve:
      message: "May the note about {question} be kept?"
      child: {set: {hint: "'Keep the note.'"}}
    ```
    """

    _asked = ""

    def initialise(self) -> None:
        settings, child, people = self.settings, self.child, people_of(self)
        self.reset_children()
        tool = child.settings.call if isinstance(child, CallAction) else ""
        self._asked = ""
        if not self.run.host.agent.state.is_terminal and not people.use_grant(tool, settings.terms()):
            message = shown_text(self, settings.message)
            may: Sequence[Decision] = ("approve", "refuse")
            self._asked = people.ask("confirmation", message, settings.terms(), may=may, tool=tool or None)

    def update(self) -> Status:
        if not self._asked and self.child.status is not Status.RUNNING and self.run.host.agent.state.is_terminal:
            return Status.FAILURE  # the query has stopped, and nobody was asked
        if not self._asked or self.child.status is Status.RUNNING:
            return self.child.step()
        verdict = people_of(self).decided(self._asked)
        if verdict is None:
            wait_for_answer(self)
            return Status.RUNNING
        if not verdict.allows:
            self.feedback_message = verdict.status
            return Status.FAILURE
        self.run.forget_changes(self.index)
        return self.child.step()

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_changes(self.index)
        self.run.host.agent.output.withdraw((self._asked,))

    def words(self, step: Stepped) -> Words:
        if step.ticked:
            return Words("", f"It was approved: {self.child.title} {says(self.child.status)}.")
        message = clipped(shown_text(self, self.settings.message), 120)
        if self.status is Status.RUNNING:
            return Words(f'waits: "{message}"', f'It waits for a person to decide: "{message}"')
        return Words("not approved", f'It was not approved: "{message}"')
