"""Joins what shadow runs need, if the operator wants them."""

from contextlib import AsyncExitStack

from bt_runtime import ReloadingTrees
from oracle.answering import Oracle
from oracle.control.choosing import Controls
from oracle.metrics import Metrics
from oracle.models import Model
from oracle.models.load import LoadSignal
from oracle.settings import Settings
from oracle.shadow import Shadows, Stage, shadow_control
from oracle.storage import Store
from oracle.wiring.agent import build_model, new_id


async def open_shadows(
    settings: Settings,
    *,
    oracle: Oracle,
    trees: ReloadingTrees,
    store: Store,
    metrics: Metrics,
    stack: AsyncExitStack,
    load: LoadSignal,
    model: Model | None = None,
) -> Shadows | None:
    """The shadows of a process; `None` unless the settings ask for them.

    Args:
        settings: the operator's.
        oracle: answers users.
        trees: those that the service answers with.
        store: has the runs, and keeps the pairs.
        metrics: count shadows and their tokens.
        stack: closes at its end what is opened here.
        load: says when the provider has refused a request of the users' model, or of a shadow's.
        model: answers shadows; `None`: one as the settings say, with a client of its own, so that its connections, its
            retries and what it learns of the provider's limits are its own. It repeats nothing that was refused because
            of load: what the provider allows is for the users.

    Raises:
        SettingsError: the provider's own settings cannot be used.
        ShadowControlError: there is no such version of a tree.
        UnknownTreeError: there is no such tree.
        TreeFileError: the tree has mistakes.
        StoreUnavailableError: the database cannot be read at present.
    """
    if settings.control != "shadow":
        return None
    registry = trees.library.registry
    control = await shadow_control(settings.other_control, controls=Controls(trees), store=store, registry=registry)
    if model is None:
        model = build_model(settings, on_load=load.note, waits_for_load=False)
        stack.push_async_callback(model.aclose)
    shadows = Shadows(
        Stage(oracle=oracle, model=model, control=control, store=store, new_id=new_id),
        store=store,
        metrics=metrics,
        rate=settings.shadow_rate,
        tokens_per_hour=settings.shadow_tokens_per_hour,
    )
    load.listen(shadows.note_load)
    return shadows
