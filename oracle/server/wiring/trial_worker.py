"""The process of a trial of a tree: calls the function that it gets (`oracle.authoring.trials`).

These are those of `oracle trees compare`, `test` and `verify`.
"""

import asyncio
import inspect
import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from bt_runtime import TreeFileError, TreeNotFoundError
from oracle.authoring.trials import TrialGround
from oracle.core.errors import OracleError
from oracle.core.loading import imported
from oracle.core.logs import configure_logging
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import tree_library
from prompts import PromptError


def main() -> int:
    """Answer one request; what is wrong with the trees, the settings or the database goes to standard error."""
    request = json.load(sys.stdin)
    configure_logging("critical")
    try:
        settings = read_settings(Path(".env"))
        ground = TrialGround(Path(request["copies"]), tree_library(settings), settings.database_address)
        found = imported(request["place"])(ground, **request["given"])
        if inspect.iscoroutine(found):
            found = asyncio.run(found)
    except (OracleError, TreeFileError, TreeNotFoundError, PromptError) as error:
        sys.stderr.write(str(error))
        return 1
    sys.stdout.buffer.write(TypeAdapter(object).dump_json(found, exclude_unset=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
