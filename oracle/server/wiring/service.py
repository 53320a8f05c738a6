"""Joins an `Oracle`, the store, the runs and what guards them into the parts of the HTTP service."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from bt_runtime import ReloadingTrees
from oracle.agent.answering import Oracle
from oracle.authoring.counting import AnswerCounts
from oracle.authoring.editing.desk import Desk
from oracle.authoring.editor import TreeEditor
from oracle.authoring.results import TrialResults
from oracle.authoring.trials import Trials
from oracle.authoring.watching import watch
from oracle.classify.encoder.loading import load_known
from oracle.classify.encoder.protocol import NO_ENCODER, Encoder
from oracle.classify.encoder.thread import EncodedText, EncoderThread
from oracle.classify.query import classify_query
from oracle.console.built import read_console
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.core.logs.lines import dropped_lines
from oracle.core.metrics import Metrics
from oracle.llm.load import LoadSignal
from oracle.llm.protocol import Model
from oracle.replay.histories.sharing import Passes
from oracle.runs.continuing import OWN_VERSION
from oracle.runs.manager import RunManager
from oracle.runs.options import RunOptions
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.writer import CommitFigures
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.fields import Settings
from oracle.server.settings.prices import read_prices
from oracle.server.wiring.agent import (
    build_model,
    build_oracle,
    changing_tools,
    new_id,
    reloading_trees,
    tool_maker,
    uses_provider,
)
from oracle.server.wiring.editing import editing_desk
from oracle.server.wiring.identity import authenticator
from oracle.server.wiring.plugins import plugins_of
from oracle.server.wiring.provider import DeferredModel
from oracle.server.wiring.tracing import open_traces
from oracle.server.wiring.vaults import UserTools
from oracle.tools import ToolRegistry

_DAY_S = 86_400.0
_MB = 1_000_000
_SOME_QUESTION = "Where is the function that checks passwords?"
_ENCODER_AFTER_S = 1.5
"""What the first requests need is loaded first."""
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
        OperatorError: traces cannot be exported as configured.
        OperatorError: the control of shadow runs does not exist.
    """
    async with AsyncExitStack() as stack:
        answering, load, urls = model, LoadSignal(), settings.webhook_urls
        if answering is None:
            answering = build_model(settings, on_load=load.note)
            stack.push_async_callback(answering.aclose)
        tools, tools_of = _tools(settings, has_web_search=answering.has_web_search)
        changing = changing_tools(settings)
        if changing is not None:
            await stack.enter_async_context(changing)
        prices = read_prices(settings.prices)
        metrics = Metrics(tools=tools.names if changing is None else None, costs_of=prices.costs)
        traces = await stack.enter_async_context(open_traces(settings, model=answering, metrics=metrics))

        def observe(figures: CommitFigures) -> None:
            metrics.commit(events=figures.events, queue_s=figures.queue_s, commit_s=figures.commit_s)

        store = await stack.enter_async_context(
            open_store(settings.database_address, worker=worker_name(), observe=observe, webhook_urls=urls)
        )
        metrics.watch_store(lambda: store.health.problem is None)
        metrics.watch_log(dropped_lines)
        encoder = await stack.enter_async_context(open_encoder(settings, metrics=metrics))
        trees = _trees(settings, tools)
        oracle = build_oracle(
            settings,
            model=answering,
            conversations=store.conversations,
            tools=tools,
            tools_of=tools_of,
            trees=trees,
            traces=traces,
            encoder=encoder,
            changing=changing,
        )
        oracle.turn_limit()  # loads the default tree, so that its mistakes end the start
        editor = TreeEditor(trees, folder=settings.trees_folder, edits=store.tree_edits)
        await editor.start()
        await stack.enter_async_context(_watched(editor))
        runs = RunManager(
            oracle,
            store,
            options=run_options(settings),
            metrics=metrics,
            new_id=new_id,
            versions=(OWN_VERSION, *sorted({each.package for each in plugins_of(settings).loaded})),
        )
        names_models = model is not None or uses_provider(settings)
        desk = editing_desk(settings, tools)
        parts = _parts(settings, oracle, editor, desk, store, runs, metrics, names_models=names_models)
        parts = replace(parts, encoder=encoder, prices=prices, given_model=model, provider_load=load)
        if changing is not None:
            parts = replace(parts, missing_tools=changing.missing, pass_headers=changing.pass_headers)
            parts = replace(parts, tool_servers=changing.states)
        stack.callback(parts.passes.close)
        for feature in features(settings.features):
            if feature.opens is not None and feature.is_asked_for(settings):
                await stack.enter_async_context(imported(feature.opens)(parts))
        await stack.enter_async_context(runs)
        preparing = asyncio.create_task(_prepare(answering), name="prepare")  # begins when the caller first waits
        stack.callback(preparing.cancel)
        yield replace(parts, is_prepared=preparing.done)


async def _prepare(model: Model) -> None:
    """Load what every question needs, in threads; what fails to load is tried again with the first question."""
    work: set[asyncio.Future[Any]] = {asyncio.ensure_future(asyncio.to_thread(classify_query, _SOME_QUESTION))}
    if isinstance(model, DeferredModel):
        work.add(model.prepare())
    await asyncio.wait(work)


@asynccontextmanager
async def open_encoder(
    settings: Settings, *, metrics: Metrics, after_s: float = _ENCODER_AFTER_S
) -> AsyncIterator[Encoder]:
    """The encoder, which answers nothing until it is loaded.

    Args:
        settings: the operator's.
        metrics: count what it reads.
        after_s: seconds from the start until it begins to load.
    """
    if settings.encoder == "off":
        yield NO_ENCODER
        return

    def observe(text: EncodedText) -> None:
        metrics.text_encoded(text.kind, text.outcome, seconds=text.seconds)

    if isinstance(settings.encoder, Path):
        encoder = EncoderThread(settings.encoder, observe=observe)
    else:
        encoder = EncoderThread(settings.data_dir / "encoder", observe=observe, loader=load_known)
    metrics.watch_encoder(lambda: encoder.state == "ready")
    loading = asyncio.create_task(_load_later(encoder, after_s), name="load-encoder")
    try:
        yield encoder
    finally:
        loading.cancel()
        await asyncio.wait({loading})


async def _load_later(encoder: EncoderThread, after_s: float) -> None:
    await asyncio.sleep(after_s)
    await encoder.load()


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


def _parts(
    settings: Settings,
    oracle: Oracle,
    trees: TreeEditor,
    desk: Desk,
    store: Store,
    runs: RunManager,
    metrics: Metrics,
    *,
    names_models: bool,
) -> ServiceParts:
    return ServiceParts(
        oracle=oracle,
        trees=trees,
        trials=Trials(trees.trees, environment=_environment(settings)),
        answers=AnswerCounts(store, trees.trees),
        results=TrialResults(store.tree_trials),
        desk=desk,
        store=store,
        runs=runs,
        passes=Passes(store, registry=lambda: trees.trees.library.registry),
        settings=settings,
        metrics=metrics,
        authenticator=authenticator(settings),
        provider_answers=names_models,
        console=read_console(),
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
    folders = {
        "ORACLE_DATA_DIR": settings.data_dir,
        "ORACLE_PROJECT_DIR": settings.project_dir,
        "ORACLE_VAULT_DIR": settings.vault_dir,
    }
    return {name: str(folder) for name, folder in folders.items() if folder is not None}


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


def _tools(settings: Settings, *, has_web_search: bool) -> tuple[ToolRegistry, Callable[[str], ToolRegistry] | None]:
    """All tools, and those of a user if users have vaults of their own."""
    make = tool_maker(settings, has_web_search=has_web_search)
    tools = make(settings.vault)
    if settings.vault_shared or not settings.has_auth:
        return tools, None
    return tools, UserTools(settings.vault, make=make).of
