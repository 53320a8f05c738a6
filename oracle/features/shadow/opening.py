"""Shadows of a service."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from oracle.agent.control.choosing import Controls
from oracle.features.shadow.controls import shadow_control
from oracle.features.shadow.rehearsing import Stage
from oracle.features.shadow.running import Shadows
from oracle.server.api.parts import ServiceParts
from oracle.server.wiring.agent import build_model, new_id


@asynccontextmanager
async def open_shadows(parts: ServiceParts) -> AsyncIterator[None]:
    """Let shadows follow the runs of a service.

    They are answered by a model as the settings say, with a client of its own, so that its connections, its retries and
    what it learns of the provider's limits are its own. It repeats nothing that was refused because of load: what the
    provider allows is for the users. A model that was given to the service answers its shadows too.

    Raises:
        SettingsError: the provider's own settings cannot be used.
        OperatorError: there is no such version of a tree.
        UserError: there is no such tree.
        TreeFileError: the tree has mistakes.
        StoreUnavailableError: the database cannot be read at present.
    """
    settings, store, trees = parts.settings, parts.store, parts.trees.trees
    control = await shadow_control(
        settings.other_control, controls=Controls(trees), store=store, registry=trees.library.registry
    )
    async with AsyncExitStack() as stack:
        model = parts.given_model
        if model is None:
            model = build_model(settings, on_load=parts.provider_load.note, waits_for_load=False)
            stack.push_async_callback(model.aclose)
        shadows = Shadows(
            Stage(oracle=parts.oracle, model=model, control=control, store=store, new_id=new_id),
            store=store,
            metrics=parts.metrics,
            rate=settings.shadow_rate,
            tokens_per_hour=settings.shadow_tokens_per_hour,
        )
        parts.provider_load.listen(shadows.note_load)
        parts.runs.follow(shadows)
        parts.add(shadows)
        yield
