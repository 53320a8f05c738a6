"""The process of a trial of a tree: reads a request, and answers with what was found (`oracle.authoring.trials`).

It does what `oracle trees compare`, `test` and `verify` do, by the same functions.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from bt_runtime import TreeDefinition, TreeFileError, TreeLibrary, TreeNotFoundError
from bt_runtime.library.named import read_source
from oracle.authoring.results import ScenarioFile, TreeVerification
from oracle.authoring.scenarios.suites import Suite, scenario_files
from oracle.authoring.trials import NEW, OLD, REQUEST, SCENARIOS, ReplayRequest, ScenariosRequest, VerifyRequest
from oracle.authoring.verifying.exploring import Bounds
from oracle.authoring.verifying.verify import Scope, verify
from oracle.core.errors import OracleError, UserError
from oracle.core.logs.configuring import configure_logging
from oracle.replay.comparing import Comparison
from oracle.replay.histories.answers import queries_of, replay_query
from oracle.runs.storage.archive import open_archive
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import tree_library
from prompts import PromptError


def main() -> int:
    """Answer one request; what is wrong with the trees, the settings or the database goes to standard error."""
    request = REQUEST.validate_json(sys.stdin.buffer.read())
    configure_logging("critical")
    try:
        settings = read_settings(Path(".env"))
        library = tree_library(settings)
        match request:
            case ReplayRequest():
                found: Any = asyncio.run(_replay(request, library, settings.database_address))
            case ScenariosRequest():
                found = _play(request, library)
            case VerifyRequest():
                found = _verify(request, library)
    except (OracleError, TreeFileError, TreeNotFoundError, PromptError) as error:
        sys.stderr.write(str(error))
        return 1
    sys.stdout.buffer.write(TypeAdapter(object).dump_json(found, exclude_unset=True))
    return 0


async def _replay(request: ReplayRequest, library: TreeLibrary, database: str) -> list[Comparison]:
    old, new = (_tree(request.folder / copies, request.of, library) for copies in (OLD, NEW))
    async with open_archive(database) as archive:
        records = await queries_of(archive, old.name, runs=request.runs, run_id=request.run_id)
        return [await replay_query(each, archive, old, new, registry=library.registry) for each in records]


def _play(request: ScenariosRequest, library: TreeLibrary) -> list[ScenarioFile]:
    files = list(scenario_files([request.folder / NEW / SCENARIOS]))
    if not files:
        raise UserError("there are no scenario files; see docs/scenarios.md", status=409)
    suite = Suite(library)
    return [ScenarioFile.model_validate(suite.run(file).to_json()) for file in files]


def _verify(request: VerifyRequest, library: TreeLibrary) -> TreeVerification:
    tree = _tree(request.folder / NEW, request.of, library, samples=True)
    bounds = Bounds(request.states, request.seconds, request.megabytes)
    report = verify(tree, Scope(turns=request.turns, bounds=bounds, registry=library.registry))
    return TreeVerification.model_validate(report.to_json())


def _tree(copies: Path, name: str, library: TreeLibrary, *, samples: bool = False) -> TreeDefinition:
    source = read_source(copies / f"{name}.yaml", name=name)
    return library.beside(copies).load_source(source, samples=samples)


if __name__ == "__main__":
    sys.exit(main())
