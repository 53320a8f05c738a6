"""The `repeat` kind."""

from typing import Annotated

from pydantic import Field

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings
from bt_runtime.nodes.base import Decorator
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import RUNNING, SUCCESS, Status


class RepeatSettings(NodeSettings):
    """Settings of `repeat`.

    Args:
        times: how many times the child must succeed; a number or an expression.
    """

    times: Annotated[int, Field(ge=1)] | ExpressionText


@node("repeat", settings=RepeatSettings, waits=True, facts=Facts(repeats=True, keeps=("_wanted", "_successes")))
class Repeat(Decorator[RepeatSettings]):
    """Runs its child a number of times, one tick each.

    SUCCESS when the child has succeeded `times` times; FAILURE as soon as it fails; RUNNING in between. `times`
    may be an expression over the blackboard, which is evaluated when the node begins. A thousand
    repetitions in a row that take no time (fewer if they visit more than 50 nodes each) end the run with an error that
    names the node.

    ```yaml
    repeat:
      times: 2
      child: {set: {count: "count + 1"}}
    ```
    """

    _wanted = 1
    _successes = 0

    def initialise(self) -> None:
        self._wanted = number_of(self.settings.times, self, setting="times", least=1, whole=True)
        self._successes = 0

    def update(self) -> Status:
        status = self.child.step()
        if status is not SUCCESS:
            return status
        self._successes += 1
        if self._successes >= self._wanted:
            return SUCCESS
        self.run.tick_again(self.path)
        return RUNNING

    def words(self, step: Stepped) -> Words:
        if not step.ticked:
            return Words()
        text = f"{self._successes} of {self._wanted} times"
        sentence = f"{self.child.title} {says(self.child.status)}; {text} done."
        return Words(text, sentence, (Figure("times", self._successes, self._wanted),))
