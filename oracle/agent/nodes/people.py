"""Kinds that ask a person: `ask_user` and `approve`."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from bt_runtime import Facts, KeyUse, Status, Stepped, Use, Words, node
from bt_runtime.kinds.action import CallAction
from bt_runtime.language.kind import Case, KeyType, LeafFlow, TemplateText
from bt_runtime.nodes.base import Decorator
from bt_runtime.nodes.wording import says
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.asking import AskingSettings, people_of, shown_text, wait_for_answer
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import ASKS_PERSON
from oracle.agent.people import People
from oracle.core.chunks import Decision

TYPES: Mapping[str, KeyType] = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "map",
}
"""The types of keys, by those of JSON schemas."""
_SCHEMAS = "oracle.core.json_schemas"
"""Checks schemas, and values against them; imported for a tree whose `ask_user` has a schema or a default."""
_FREE_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 20_000}


class AskUserSettings(AskingSettings):
    """Settings of `ask_user`.

    Args:
        question: the question; `{key}` shows a blackboard value.
        into: the blackboard key for the answer.
        options: the possible answers; without `options` and `schema` any text is valid.
        form: the JSON schema of an answer.
        default: the answer after a refusal or `expires`; `null`: the node fails.
        expires: how long an answer may take: `30m`, `12h`, `7d`; `null`: no limit.
        answered_by: who may answer: the asking `user`, an `operator`, or `{not: asker}`.
    """

    question: TemplateText = Field(min_length=1, max_length=4000)
    into: str
    options: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list, max_length=50)
    form: dict[str, Any] | None = Field(default=None, alias="schema")
    default: Any = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.options and self.form is not None:
            raise ValueError("an answer is one of 'options', or has a 'schema', not both")
        if self.form is not None and self.form.get("type") not in TYPES:
            raise ValueError(f"the schema needs a 'type': {', '.join(TYPES)}")
        if self.form is not None:
            import_module(_SCHEMAS).checked_schema(self.form)
        if self.default is not None and (found := import_module(_SCHEMAS).misfits(self.response_schema, self.default)):
            raise ValueError(f"the default is no answer: {found[0].problem}")
        return self

    @property
    def response_schema(self) -> Mapping[str, Any]:
        """The JSON schema of an answer."""
        if self.form is not None:
            return self.form
        return {"type": "string", "enum": self.options} if self.options else _FREE_TEXT

    def uses(self) -> Iterator[Use]:
        yield from super().uses()
        yield KeyUse(("into",), self.into, "write", TYPES[self.response_schema["type"]])


def _cases(settings: AskUserSettings) -> Sequence[Case]:
    answered = Case("success", writes={settings.into: None})
    return (answered, Case("failure", fault=settings.default is not None))


@node(
    "ask_user",
    settings=AskUserSettings,
    category="action",
    waits=True,
    acts=True,
    facts=Facts(roles=(ASKS_PERSON,), shows=True),
    flow=LeafFlow(_cases),
)
class AskUser(AgentNode[AskUserSettings]):
    """Asks a person a question and waits for the answer.

    RUNNING while it waits; SUCCESS when `into` has the answer, or the default after a refusal or `expires`; FAILURE
    without a default, or if the run has stopped. If nothing else is running, the run is parked, and its deadline and
    timeouts are paused. A halt withdraws the question.

    ```yaml
    ask_user:
      question: "Which branch is meant?"
      options: [main, release]
      into: hint
    ```
    """

    _asked = ""

    def initialise(self) -> None:
        settings, self._asked = self.settings, ""
        if self.agent.state.is_terminal:
            return
        default = {} if settings.default is None else {"default": settings.default}
        self._asked = self.agent.part(People.of).ask(
            "input_required",
            shown_text(self, settings.question),
            settings.terms("fail" if settings.default is None else "default"),
            may=("answer", "refuse"),
            schema={**settings.response_schema, **default},
        )

    def update(self) -> Status:
        if not self._asked:
            return Status.FAILURE  # the query has stopped, and nobody was asked
        verdict = people_of(self).decided(self._asked)
        if verdict is None:
            wait_for_answer(self)
            return Status.RUNNING
        answer = verdict.answer if verdict.status == "answered" else self.settings.default
        if answer is None:
            self.feedback_message = verdict.status
            return Status.FAILURE
        self.board.set(self.settings.into, answer)
        return Status.SUCCESS

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_changes(self.index)
        self.agent.output.withdraw((self._asked,))

    def words(self, step: Stepped) -> Words:
        question = clipped(shown_text(self, self.settings.question), 120)
        if self.status is Status.RUNNING:
            begins = "asks" if step.began else "waits for the answer to"
            return Words(f'{begins} "{question}"', f'It {begins} "{question}"')
        if self.status is Status.FAILURE:
            return Words("no answer", f'Nobody has answered "{question}"')
        answer = clipped(str(self.board[self.settings.into]), 120)
        return Words(f'answer: "{answer}"', f'The answer to "{question}" is "{answer}".')


class ApproveSettings(AskingSettings):
    """Settings of `approve`.

    Args:
        message: what is to be approved; `{key}` shows a blackboard value.
        expires: how long an answer may take: `30m`, `12h`, `7d`; `null`: no limit.
        answered_by: who may answer: the asking `user`, an `operator`, or `{not: asker}`.
    """

    message: TemplateText = Field(min_length=1, max_length=4000)


@node("approve", settings=ApproveSettings, waits=True, acts=True, facts=Facts(roles=(ASKS_PERSON,), shows=True))
class Approve(Decorator[ApproveSettings]):
    """Asks a person each time whether its child may run.

    RUNNING while it waits; then SUCCESS, FAILURE or RUNNING as the child. FAILURE after a refusal or `expires`, or if
    the run has stopped. A halt withdraws the question.

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
