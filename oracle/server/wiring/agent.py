"""Joins model, tools, trees and prompts into an `Oracle`."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import structlog

import oracle.tools as toolbox  # whose modules are loaded with the first tool of theirs
import trees
from bt_runtime import HostAction, Registry, ReloadingTrees, SystemClock, TreeLibrary
from bt_runtime.text.data import dataclass
from oracle.agent.answering import Oracle
from oracle.agent.control.choosing import Controls
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import Conversations
from oracle.agent.equipment import Equipment, Hooks
from oracle.agent.nodes.tree_checks import names_of_turns
from oracle.agent.tracing import NO_TRACES, Traces
from oracle.classify.protocol import NO_ENCODER, Encoder
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.core.logs import configure_unless_configured
from oracle.decision import AgentConfig
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import Model, OnLoad
from oracle.llm.routing import UNPREFIXED, ProviderModels, RoutedModel, joined, prepare
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError
from oracle.server.wiring.domains import domain_of
from oracle.server.wiring.plugins import plugins_of, registry_of
from oracle.tools import Tool, ToolRegistry, ToolSetupError, web_tools
from oracle.tools.protocol import ChangingTools
from prompts import PromptError, is_small_window

if TYPE_CHECKING:  # commands that have no metrics do not load their library
    from oracle.core.metrics import Metrics

log = structlog.get_logger(__name__)

_BESIDE_A_DATABASE = ("", "-wal", "-shm", "-journal", ".lock")


@dataclass(slots=True)
class Fittings:
    """What features give an Oracle before it is made.

    Args:
        model: answers.
        metrics: those of the service; `None`: the Oracle is a command's, for one question.
        changing: tools that come and go; `None`: there are none.
        traces: traces the queries.
        encoder: reads questions and responses in addition to the heuristics.
        hooks: what features do within a query.
    """

    model: Model
    metrics: "Metrics | None" = None
    changing: ChangingTools | None = None
    traces: Traces = NO_TRACES
    encoder: Encoder = NO_ENCODER
    hooks: Hooks = field(default_factory=Hooks)


@asynccontextmanager
async def prepared(settings: Settings, fittings: Fittings) -> AsyncIterator[Fittings]:
    """Let the features that the settings ask for change what an Oracle is made of; they close it at the end.

    Raises:
        OperatorError: a feature cannot be used as configured.
    """
    async with AsyncExitStack() as stack:
        for feature in features(settings.features):
            if feature.prepares is not None and feature.is_asked_for(settings):
                await stack.enter_async_context(imported(feature.prepares)(settings, fittings))
        yield fittings


@asynccontextmanager
async def open_oracle(settings: Settings) -> AsyncIterator[Oracle]:
    """An `Oracle` according to the settings; its connections are closed at the end.

    Unless structlog has been configured, log events from the settings' level on go to standard error.

    Raises:
        SettingsError: a setting does not fit the files and folders.
        ToolSetupError: the project or the vault cannot be used.
        PromptError: the prompt files cannot be used.
        OperatorError: a feature, such as the export of traces, cannot be used as configured.
    """
    configure_unless_configured(settings.log)
    model = build_model(settings)
    prepare(model)
    try:
        async with prepared(settings, Fittings(model)) as fittings:
            yield build_oracle(settings, fittings)
    finally:
        await model.aclose()


def build_oracle(
    settings: Settings,
    fittings: Fittings,
    *,
    conversations: Conversations | None = None,
    tools: ToolRegistry | None = None,
    tools_of: Callable[[str], ToolRegistry] | None = None,
    trees: ReloadingTrees | None = None,
) -> Oracle:
    """Join the parts.

    Args:
        settings: the operator's.
        fittings: the model, which the caller closes, and what features have added.
        conversations: where they are kept; `None`: in memory.
        tools: all tools; `None`: those of the settings.
        tools_of: the tools of a user, where users have their own.
        trees: `None`: those of the settings, looked at before each use.

    Raises:
        SettingsError: a setting does not fit the files and folders.
        ToolSetupError: the project or the vault cannot be used.
        PromptError: the prompt files cannot be used.
    """
    plugins, domain = plugins_of(settings), domain_of(settings)
    has_code = "code" in domain.types.sources
    tools = tools if tools is not None else build_tools(settings, has_web_search=fittings.model.has_web_search)
    trees = trees or reloading_trees(settings, tools)
    _check_named(settings, trees)
    equipment = Equipment(
        model=fittings.model,
        tools=tools,
        segments=domain.segments(settings.prompts_dir, plugins.prompts),
        classifier=domain.classifier(),
        intents=plugins.intents,
        clock=SystemClock(),
        max_output_tokens=settings.max_output_tokens,
        thinking_tokens=settings.thinking_tokens,
        project=settings.project_dir.resolve().name if has_code else "",
        folders=toolbox.top_folders(settings.project_dir, private=own_data(settings)) if has_code else (),
        context_tokens=fittings.model.context_tokens if isinstance(fittings.model, RoutedModel) else lambda _: None,
        encoder=fittings.encoder,
        hooks=fittings.hooks,
    )
    return Oracle(
        equipment=equipment,
        trees=trees,
        conversations=conversations or MemoryConversations(new_id=new_id),
        new_id=new_id,
        config=settings.capped(AgentConfig()),
        cap=settings.capped,
        tools_of=tools_of,
        control=settings.primary_control,
        named_trees=settings.trees,
        traces=fittings.traces,
        changing=fittings.changing,
    )


def build_model(settings: Settings, *, on_load: OnLoad = lambda _: None, waits_for_load: bool = True) -> Model:
    """The model that answers.

    Args:
        settings: `llm` and `model` of them.
        on_load: called when the provider has refused a request because of its load or a rate limit.
        waits_for_load: whether such a request is repeated.

    Raises:
        SettingsError: the provider's own settings (address, proxy, profile) cannot be used.
    """
    if settings.llm == "offline":
        return OfflineModel()
    models = provider_models(settings)
    if _asks_provider(settings, models):
        return RoutedModel(settings.model, models, on_load=on_load, waits_for_load=waits_for_load)
    left_out = models.lacks
    if left_out is None and "/" in settings.model:
        hint = "set ORACLE_MODEL to a model of a known provider (docs/models.md)"
        left_out = f"there is no provider {settings.model.partition('/')[0]!r}", hint
    if left_out is not None:
        log.warning("provider.left_out", problem=f"{left_out[0]}, so the embedded model answers", hint=left_out[1])
    return OfflineModel()


def provider_models(settings: Settings) -> ProviderModels:
    """The models of all providers, which features add.

    Raises:
        SettingsError: they cannot be used as configured.
    """
    used = [each.models for each in features(settings.features) if each.models is not None]
    models = joined(imported(each)(settings) for each in used)
    if settings.llm == "anthropic" and UNPREFIXED not in models.makers:
        raise SettingsError(
            "ORACLE_LLM=anthropic asks for the feature 'claude', which is left out, or not installed; set it to "
            "'auto', with ORACLE_MODEL another provider's model, or to 'offline'"
        )
    return models


def uses_provider(settings: Settings) -> bool:
    """Whether a provider's model answers, and not the embedded one.

    Raises:
        SettingsError: the providers cannot be used as configured.
    """
    return settings.llm != "offline" and _asks_provider(settings, provider_models(settings))


def _asks_provider(settings: Settings, models: ProviderModels) -> bool:
    return settings.llm == "anthropic" or models.is_ready or models.find(settings.model)[0] != UNPREFIXED


def build_tools(settings: Settings, *, has_web_search: bool) -> ToolRegistry:
    """The tools over project, vault and web.

    Raises:
        ToolSetupError: the project or the vault cannot be used.
        SettingsError: the vault that was asked for does not exist.
    """
    return tool_maker(settings, has_web_search=has_web_search)(settings.vault)


def tool_maker(settings: Settings, *, has_web_search: bool) -> Callable[[Path], ToolRegistry]:
    """Return a function that makes a user's tools from the vault's folder; project and web tools are shared.

    Raises:
        ToolSetupError: the project cannot be used.
        SettingsError: the vault that was asked for does not exist.
    """
    if settings.vault_dir is not None and not settings.vault_dir.exists():
        # The default one is made by the first note; one that was named and is not there is a slip.
        raise SettingsError(
            f"the vault's folder {str(settings.vault_dir)!r} does not exist; make it, or set --vault or "
            "ORACLE_VAULT_DIR to one that does"
        )
    plugins, types = plugins_of(settings), domain_of(settings).types
    project: Sequence[Tool] = ()
    if "code" in types.sources:
        index = settings.data_dir / "code-index"
        project = toolbox.project_tools(settings.project_dir, private=own_data(settings), index=index)
    web = web_tools(has_web_search=has_web_search and "web" in types.sources)

    def make(vault: Path) -> ToolRegistry:
        notes = () if {"vault", "thread"}.isdisjoint(types.sources) else toolbox.vault_tools(vault, now=now)
        used = (tool for tool in notes if tool.group in types.sources)
        return ToolRegistry([*project, *used, *web, *plugins.tools], types)

    return make


def own_data(settings: Settings) -> tuple[Path, ...]:
    """What the tools over the project must never show, wherever it lies: the database, and other users' notes.

    Raises:
        SettingsError: it could not be kept from them.
    """
    folders = [settings.data_dir]
    if settings.has_auth and not settings.vault_shared:
        if settings.vault.resolve() == settings.project_dir.resolve():
            raise SettingsError(
                f"the vault's folder {str(settings.vault)!r} is the project's, where all users can read what is in it; "
                "set ORACLE_VAULT_DIR to another one, or ORACLE_VAULT_SHARED=1"
            )
        folders.append(settings.vault)
    database = settings.database_file
    return (*folders, *(database.with_name(database.name + end) for end in _BESIDE_A_DATABASE))


def tree_library(settings: Settings, tools: ToolRegistry | None = None) -> TreeLibrary:
    """The operator's trees, then the shipped ones.

    Args:
        settings: the operator's.
        tools: what `action` can call; `None`: those of the settings, if they can be used.

    Raises:
        SettingsError: the operator's folder of trees is not a folder.
    """
    plugins, domain = plugins_of(settings), domain_of(settings)
    folders = [*domain.trees, *plugins.trees, trees.FOLDER]
    if settings.trees_dir is not None and not settings.trees_dir.is_dir():
        what = "is a file" if settings.trees_dir.exists() else "does not exist"
        raise SettingsError(
            f"the folder of trees {str(settings.trees_dir)!r} {what}; set ORACLE_TREES_DIR (or serve --trees) to "
            "a folder of tree files, such as `oracle trees init DIR` makes"
        )
    if settings.trees_folder.is_dir():
        folders.insert(0, settings.trees_folder)
    registry = _with_tools(settings, registry_of(plugins, domain), tools)
    models = (settings.model, *settings.models) if settings.models else ()
    if "rules" not in {feature.name for feature in features(settings.features)}:
        registry = registry.without_enforcement("the feature 'rules' is left out, or not installed")
    names = names_of_turns(models=models, segments=lambda: _segment_ids(settings))
    return TreeLibrary(folders, registry=registry.with_rules([names]))


def reloading_trees(settings: Settings, tools: ToolRegistry) -> ReloadingTrees:
    """The trees of `tree_library`, which follow their files; no link may lead out of the operator's folder.

    Raises:
        SettingsError: the operator's folder of trees is not a folder.
    """
    return ReloadingTrees(tree_library(settings, tools), closed=[settings.trees_folder])


def _segment_ids(settings: Settings) -> tuple[str, ...] | None:
    """The segments that a turn may name; `None` where the prompts cannot be used, which is reported for themselves."""
    try:
        return domain_of(settings).segments(settings.prompts_dir, plugins_of(settings).prompts).ids
    except PromptError:
        return None


def _with_tools(settings: Settings, registry: Registry, tools: ToolRegistry | None) -> Registry:
    try:
        tools = tools if tools is not None else build_tools(settings, has_web_search=False)
    except (ToolSetupError, SettingsError):
        return registry  # the tools cannot be known here; they are reported where the tools are made
    # A tree may offer the provider's tools, whether or not this model has them, and stays the same file.
    known = {tool.name: tool for tool in (*web_tools(has_web_search=True), *tools.tools)}
    actions: Mapping[str, HostAction] = {
        each.name: action_of(each.input_schema, is_callable=not each.is_server_side, labels=each.labels)
        for each in known.values()
    }
    for feature in features(settings.features):
        if feature.actions is not None and feature.is_asked_for(settings):
            actions = imported(feature.actions)(actions, settings)
    return registry.with_actions(actions)


def action_of(
    schema: Mapping[str, Any], *, is_callable: bool = True, labels: frozenset[str] | None = None
) -> HostAction:
    """What a tree may call, by the schema of the tool's arguments."""
    takes_any = schema.get("additionalProperties", True) is not False
    names = None if takes_any else tuple(schema.get("properties", ()))
    return HostAction(
        names, frozenset(schema.get("required", ())), result="str", is_callable=is_callable, labels=labels
    )


def note_of_window(oracle: Oracle, model: str | None = None) -> str:
    """What an operator should know about the context window of a model, `None` being the configured one; or nothing."""
    window = oracle.context_tokens(model)
    if window is None or not is_small_window(window):
        return ""
    return f"{model or oracle.model_name} has a context of {window:,} tokens, so it gets the short prompt"


def _check_named(settings: Settings, trees: ReloadingTrees) -> None:
    """Refuse a list of trees with one in it that no question could name."""
    alone = Controls(trees)
    for name in settings.trees:
        if not alone.may_be_named(name):
            raise SettingsError(
                f"ORACLE_TREES names {name!r}, which is not a tree that a question can name; see `oracle trees list` "
                "(a folder of trees goes into ORACLE_TREES_DIR)"
            )


def now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """A random name for a run or a conversation, which cannot be guessed."""
    return uuid4().hex
