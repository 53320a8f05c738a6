"""What the next turn of the model gets: its prompt, tools, notes and warnings."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from bt_runtime import ActionUse, Facts, Figure, NodeSettings, NoSettings, Status, Stepped, Use, Words, node
from bt_runtime.language.kind import HERE, Case, TemplateText, leaf
from bt_runtime.text.phrases import clipped, counted, joined, listed
from oracle.agent import notices
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.granting import filled_hint
from oracle.agent.nodes.roles import COMPOSES_PROMPT, OFFERS_TOOLS, WARNS_NEAR_LIMITS
from oracle.agent.notes import Strength
from oracle.agent.steps import compose, offer, offer_all_reading, withhold


@node(
    "compose_prompt",
    facts=Facts(roles=(COMPOSES_PROMPT,)),
    flow=leaf(Case("success", facts={"prompt": "yes"}), Case("failure", fault=True)),
)
class ComposePrompt(AgentNode[NoSettings]):
    """Composes the system prompt for the type of question and the offered tools.

    SUCCESS, unless the prompt segments contradict each other. The prompt is composed once per run, to keep the
    provider's cache valid.

    ```yaml
    compose_prompt:
    ```
    """

    def update(self) -> Status:
        compose(self.agent)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        prompt = self.agent.prompt
        if prompt is None or self.status is not Status.SUCCESS:
            return Words()
        text = f"{counted(len(prompt.included), 'segment')} · {counted(prompt.tokens, 'token')}"
        dropped = f"; without {listed(prompt.dropped)}, which did not fit" if prompt.dropped else ""
        return Words(f"{text}{dropped}", f"The system prompt is composed: {text}{dropped}.")


def offer_words(node: AgentNode[Any]) -> Words:
    """How many tools are offered now, or why no further ones."""
    offered = counted(len(node.agent.offered), "tool")
    if node.status is Status.SUCCESS:
        return Words(f"now offered: {offered}", f"More tools are offered: {offered} now.")
    if not node.agent.will_run_tools():
        return Words(f"still offered: {offered}", "Nothing is offered before a turn whose calls are not run.")
    return Words(f"offered already: {offered}", "All of these tools are offered already.")


@node(
    "offer_all_reading_tools",
    facts=Facts(),
    flow=leaf(
        Case(
            "success",
            facts={"tools": "all", "offered": HERE, "added": HERE},
            when_facts={"tools": frozenset({"some"})},
        ),
        Case("failure"),
    ),
)
class OfferAllReadingTools(AgentNode[NoSettings]):
    """Offers every tool that only reads, and tells the model which ones are new.

    SUCCESS if this adds a tool. FAILURE if all are offered already, or the tool calls of the next turn cannot run.

    ```yaml
    offer_all_reading_tools:
    ```
    """

    def update(self) -> Status:
        return Status.SUCCESS if offer_all_reading(self.agent) else Status.FAILURE

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        return offer_words(self)


class ToolNames(NodeSettings):
    """Names of tools.

    Args:
        tools: the names of the tools.
    """

    tools: list[str] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        """Each name, so that one that is no tool's is a mistake with its place."""
        for index, name in enumerate(self.tools):
            yield ActionUse(("tools", index), name)


@node(
    "offer_tools",
    settings=ToolNames,
    shorthand="tools",
    facts=Facts(roles=(OFFERS_TOOLS,)),
    flow=leaf(Case("success", facts={"added": HERE, "offered": HERE}), Case("failure")),
)
class OfferTools(AgentNode[ToolNames]):
    """Offers more tools by name for the rest of the run, and tells the model which ones are new.

    SUCCESS if this adds a tool. FAILURE if all are offered already, or the tool calls of the next turn cannot run.
    Use it after `classify_query`, which selects the tools again.

    ```yaml
    offer_tools: [vault_write, thread_push]
    ```
    """

    def update(self) -> Status:
        return Status.SUCCESS if offer(self.agent, self.settings.tools) else Status.FAILURE

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        return offer_words(self)


@node("withhold_tools", settings=ToolNames, shorthand="tools", facts=Facts(), flow=leaf(Case("success")))
class WithholdTools(AgentNode[ToolNames]):
    """Does not offer some tools for the rest of the run.

    SUCCESS, always. The model gets an error if it calls one; an `action` can still use it. Use it before
    `compose_prompt`: `web_search` cannot be withheld reliably after the first turn.

    ```yaml
    withhold_tools: [search_code, read_file, list_files]
    ```
    """

    def update(self) -> Status:
        withhold(self.agent, self.settings.tools)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        names = joined(self.settings.tools)
        return Words(f"not offered: {names}", f"These tools are not offered in this run: {names}.")


class NoteSettings(NodeSettings):
    """Settings of `note`.

    Args:
        text: the text; `{key}` shows a blackboard value.
        strength: its priority, from `reminder` to `last_turn`.
    """

    text: TemplateText = Field(min_length=1, max_length=2000)
    strength: Strength = "hint"


@node(
    "note",
    settings=NoteSettings,
    shorthand="text",
    facts=Facts(shows=True),
    flow=leaf(Case("success", facts={"noted": HERE})),
)
class AddNote(AgentNode[NoteSettings]):
    """Adds a note to the model's next turn.

    SUCCESS, always. Each turn has only one note: the strongest, or the latest of equal strength.

    ```yaml
    note: "You have looked at {groups_found}. Answer if that is enough."
    ```
    """

    def update(self) -> Status:
        self.agent.add_note(filled_hint(self.settings.text, self.board), self.settings.strength)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        text = clipped(filled_hint(self.settings.text, self.board), 120)
        return Words(f'noted "{text}"', f'The model reads: "{text}"')


class WarnNearLimitsSettings(NodeSettings):
    """Settings of `warn_near_limits`.

    Args:
        time: also warn at this percentage of the time limit.
    """

    time: float | None = Field(default=None, gt=0, lt=100)


@node(
    "warn_near_limits",
    settings=WarnNearLimitsSettings,
    facts=Facts(roles=(WARNS_NEAR_LIMITS,), remembers=("_time_warned",)),
    flow=leaf(Case("success")),
)
class WarnNearLimits(AgentNode[WarnNearLimitsSettings]):
    """Warns the user and the model, once per limit, when turns, tokens or time are nearly used up.

    SUCCESS, always. The user's `soft_warning_percent` and `token_warning_percent` decide when; of turns it warns two
    before the limit at the latest.

    ```yaml
    warn_near_limits: {time: 50}
    ```
    """

    _time_warned = False

    def update(self) -> Status:
        agent, percent = self.agent, self.settings.time
        agent.warn_near_limits()
        elapsed_s = self.run.now_s - agent.state.start_time
        if percent and not self._time_warned and elapsed_s * 100 >= agent.state.time_limit_s * percent:
            self._time_warned = True
            agent.warn(notices.time_warning(agent.state, elapsed_s))
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state = self.agent.state
        warnings = (("turns", state.turn_warned), ("tokens", state.token_warned), ("time", self._time_warned))
        sent = [name for name, is_sent in warnings if is_sent]
        text = f"{state.iteration_percent:.0f} % of the turns · {state.token_percent:.0f} % of the tokens"
        warned = f"; warned of: {joined(sent)}" if sent else ""
        figures = (Figure("turns", state.iteration_percent, 100, "%"), Figure("tokens", state.token_percent, 100, "%"))
        return Words(f"{text}{warned}", f"{text} are used{warned or '; no warning was due'}.", figures)
