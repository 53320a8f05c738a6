"""Joins an `Oracle`, the store, the runs and what guards them into the parts of the HTTP service."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace
from functools import cache
from typing import Any

from bt_runtime import ReloadingTrees
from oracle.authoring.editor import TreeEditor
from oracle.authoring.files import watch
from oracle.classify.protocol import Classifier
from oracle.console.built import read_console
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.core.metrics import Metrics
from oracle.llm.load import LoadSignal
from oracle.llm.protocol import Model
from oracle.llm.routing import prepare
from oracle.runs.continuing import OWN_VERSION
from oracle.runs.manager import RunManager
from oracle.runs.options import RunOptions
from oracle.runs.storage.store import Store, open_store
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.fields import Settings, variable_of
from oracle.server.wiring.agent import (
    Fittings,
    build_model,
    build_oracle,
    new_id,
    prepared,
    reloading_trees,
    tool_maker,
    uses_provider,
)
from oracle.server.wiring.domains import domain_of
from oracle.server.wiring.identity import UserTools, authenticator
from oracle.server.wiring.plugins import plugins_of
from oracle.tools import ToolRegistry

_DAY_S = 86_400.0
_MB = 1_000_000
_SOME_QUESTION = "Where is the function that checks passwords?"
_LONGEST_HOST = 40  # a worker's name has 64 characters at most; the rest is for the process


@asynccontextmanager
async def open_service(settings: Settings, *, model: Model | None = None) -> AsyncIterator[ServiceParts]:
    """Everything that the service needs, according to the settings; interrupted runs are being ended.

    Args:
        settings: the operator's.
        model: answers in place of the configured one; the caller closes it.

    Raises:
        SettingsError: a setting does not fit the files and folders.
        ToolSetupError: the project or the vault cannot be used.
        PromptError: the prompt files cannot be used.
        StoreSetupError: the database cannot be used as configured.
        TreeFileError: the tree that answers by default has mistakes.
        OperatorError: a feature cannot be used as configured.
    """
    async with AsyncExitStack() as stack:
        answering, load = model, LoadSignal()
        if answering is None:
            answering = build_model(settings, on_load=load.note)
            stack.push_async_callback(answering.aclose)
        make_tools = tool_maker(settings, has_web_search=answering.has_web_search)
        tools, has_own_vaults = make_tools(settings.vault), settings.has_auth and not settings.vault_shared
        metrics = Metrics(tools=tools.names)
        fittings = await stack.enter_async_context(prepared(settings, Fittings(answering, metrics)))
        store = await stack.enter_async_context(_store(settings, metrics))
        trees = _trees(settings, tools)
        oracle = build_oracle(
            settings,
            fittings,
            conversations=store.conversations,
            tools=tools,
            tools_of=UserTools(settings.vault, make=make_tools).of if has_own_vaults else None,
            trees=trees,
        )
        oracle.turn_limit()  # loads the default tree, so that its mistakes end the start
        editor = TreeEditor(trees, folder=settings.trees_folder, edits=store.tree_edits)
        await editor.start()
        await stack.enter_async_context(_watched(editor))
        versions = (OWN_VERSION, *sorted({each.package for each in plugins_of(settings).loaded}))
        options, late = run_options(settings), stack.enter_context(ExitStack())
        make_passes = _later("oracle.replay.histories.sharing:Passes", store, registry=lambda: trees.library.registry)
        parts = ServiceParts(
            oracle=oracle,
            trees=editor,
            trials=_later("oracle.authoring.trials:Trials", trees, environment=_environment(settings)),
            answers=_later("oracle.authoring.figures:AnswerCounts", store, trees),
            results=_later("oracle.authoring.figures:TrialResults", store.tree_trials),
            store=store,
            runs=RunManager(oracle, store, options=options, metrics=metrics, new_id=new_id, versions=versions),
            passes=cache(lambda: late.enter_context(closing(make_passes()))),
            settings=settings,
            metrics=metrics,
            authenticator=authenticator(settings),
            provider_answers=model is not None or uses_provider(settings),
            given_model=model,
            provider_load=load,
            console=read_console(),
        )
        for feature in features(settings.features):
            if feature.opens is not None and feature.is_asked_for(settings):
                await stack.enter_async_context(imported(feature.opens)(parts))
        await stack.enter_async_context(parts.runs)
        preparation = _prepare(answering, domain_of(settings).classifier())
        preparing = asyncio.create_task(preparation, name="prepare")  # begins when the caller first waits
        stack.callback(preparing.cancel)
        yield replace(parts, is_prepared=preparing.done)


@asynccontextmanager
async def _store(settings: Settings, metrics: Metrics) -> AsyncIterator[Store]:
    """The store, with the figures of its commits in the metrics."""
    opening = open_store(
        settings.database_address,
        worker=worker_name(),
        observe=lambda each: metrics.commit(events=each.events, queue_s=each.queue_s, commit_s=each.commit_s),
        webhook_urls=getattr(settings, "webhook_urls", ()),
    )
    async with opening as store:
        metrics.watch_store(lambda: store.health.problem is None)
        yield store


def _later(place: str, *given: Any, **named: Any) -> Callable[[], Any]:  # noqa: ANN401  what the place takes
    """Make a part when it is first asked for, and import it then."""
    return cache(lambda: imported(place)(*given, **named))


async def _prepare(model: Model, classifier: Classifier) -> None:
    """Load what every question needs, in threads; what fails to load is tried again with the first question."""
    work: set[asyncio.Future[Any]] = {asyncio.ensure_future(asyncio.to_thread(_classify, classifier))}
    if (loading := prepare(model)) is not None:
        work.add(loading)
    await asyncio.wait(work)


def _classify(classifier: Classifier) -> None:
    """Load what reads questions, and the ends of responses."""
    classifier.classify_query_with(_SOME_QUESTION, None)
    classifier.asks_user(_SOME_QUESTION)


def worker_name() -> str:
    """A name for this process, among all that ever share a database."""
    return f"{socket.gethostname()[:_LONGEST_HOST]}-{os.getpid()}-{secrets.token_hex(4)}"


def run_options(settings: Settings) -> RunOptions:
    """The options of runs."""
    return RunOptions(
        most_per_user=settings.runs_per_user,
        most_here=settings.running_per_worker,
        most_in_all=settings.running_in_all,
        most_at_once=settings.running_per_user,
        reader_grace_s=settings.reader_grace_s,
        drain_s=settings.drain_s,
        most_pause_s=settings.counted_pause_s,
        retain_s=settings.retain_days * _DAY_S or None,
        retain_texts_s=None if settings.retain_texts_days is None else settings.retain_texts_days * _DAY_S,
        retain_bytes=settings.retain_mb * _MB or None,
    )


def _trees(settings: Settings, tools: ToolRegistry) -> ReloadingTrees:
    """The trees; the folder for saved ones is made, unless the operator has named one."""
    if settings.trees_dir is None:
        with suppress(OSError):  # who saves a tree gets the reason
            settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            settings.trees_folder.mkdir(mode=0o700, exist_ok=True)
    return reloading_trees(settings, tools)


def _environment(settings: Settings) -> dict[str, str]:
    """What the command line of `serve` may have set, for commands on the same data."""
    folders = {name: getattr(settings, name) for name in ("data_dir", "project_dir", "vault_dir")}
    return {variable_of(name): str(folder) for name, folder in folders.items() if folder is not None}


@asynccontextmanager
async def _watched(editor: TreeEditor) -> AsyncIterator[None]:
    """Read the tree files when they change."""

    def set_watched(is_watched: bool) -> None:  # noqa: FBT001  a call that only `watch` makes
        editor.trees.is_watched = is_watched

    folders = editor.trees.library.folders
    task = asyncio.create_task(watch(folders, on_change=editor.refresh, set_watched=set_watched), name="watch-trees")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
