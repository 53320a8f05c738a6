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
    """Composes the system prompt from segments, for this kind of question and the tools that are offered.

    SUCCESS, unless the segments do not fit. Once per query, so that the provider's cache holds.

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
    """Offers every tool that only reads, for any type of question, and tells the model which ones are new.

    SUCCESS if that adds a tool. FAILURE if all of them are offered already, or calls of the next turn will not be run.

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
    """Offers further tools by name, for the rest of the query, and tells the model which ones are new.

    SUCCESS if that adds a tool. FAILURE if all of them are offered already, or calls of the next turn will not be run.
    Tools are only added, never taken away.
    Use it after `classify_query`, which selects the tools of the question's type anew. `web_search` is left out where
    the model's provider has none.

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
    """Does not offer some tools in this query, whatever its type: neither now nor by a later `offer_tools`.

    SUCCESS, always. A call of such a tool is answered with an error; an `action` of the tree can call it. Put it before
    `compose_prompt`. After a turn the tools stay in the requests, because their removal would void the provider's
    cache: a note asks the model not to call them, and calls are refused. `web_search`, which the provider runs, can
    only be withheld before the first turn.

    ```yaml
    withhold_tools: [search_code, read_file, list_files]
    ```
    """

    def update(self) -> Status:
        withhold(self.agent, self.settings.tools)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        names = joined(self.settings.tools)
        return Words(f"not offered: {names}", f"These tools are not offered in this query: {names}.")


class NoteSettings(NodeSettings):
    """Settings of `note`.

    Args:
        text: what the model reads with its next turn; `{key}` stands for a blackboard value.
        strength: what it is about, which decides whether it goes or another one: `reminder`, `hint`, `near_limit`,
            `enough` (what was found suffices), `ending` (one more failure ends the query), `last_turn`.
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
    """Has a note of the control go with the model's next turn.

    SUCCESS, always. One note goes with a turn: the strongest, and of equally strong ones the latest. It is not part of
    the conversation that is kept.

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
        time: percent of the time limit after which the time is warned of, too; `None` for no such warning.
    """

    time: float | None = Field(default=None, gt=0, lt=100)


@node(
    "warn_near_limits",
    settings=WarnNearLimitsSettings,
    facts=Facts(roles=(WARNS_NEAR_LIMITS,), remembers=("_time_warned",)),
    flow=leaf(Case("success")),
)
class WarnNearLimits(AgentNode[WarnNearLimitsSettings]):
    """Tells user and model, once for each limit, that the turns, the tokens or the time are nearly used up.

    SUCCESS, always. The user's percentages decide when; of the time it warns only where the node says from which
    percentage on. It looks when it is ticked, so between turns. The model gets the warning as a note with its next
    turn.

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
