"""`oracle ask`: one query in this process. What it does is imported when it is asked, so that help is there at once."""

from pathlib import Path

import click

from oracle.core.loading import imported
from oracle.decision import AgentConfig

_FOLDER = click.Path(path_type=Path)


@click.command("ask")
@click.argument("question", nargs=-1)
@click.option("--project", type=_FOLDER, metavar="DIR", help="The project whose code is searched and read.")
@click.option("--vault", type=_FOLDER, metavar="DIR", help="The folder with notes and threads.")
@click.option("--tree", default="oracle", metavar="NAME", show_default=True, help="The tree that controls the run.")
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"A limit for this run; may be repeated. Names: {', '.join(AgentConfig.model_fields)}.",
)
@click.option("--model", metavar="NAME", help="The model that answers.")
@click.option(
    "--attach",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture, PDF or text file; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print only the chunks as JSON, one object per line.")
@click.option("--detach", is_flag=True, help="Ask a running service and print the id of the run.")
@click.option(
    "--url",
    metavar="URL",
    help="The running service; its token is ORACLE_TOKEN. [default: ORACLE_URL or http://127.0.0.1:8000]",
)
def ask(  # noqa: PLR0913  one for each option
    *,
    question: tuple[str, ...],
    project: Path | None,
    vault: Path | None,
    tree: str,
    limits: tuple[str, ...],
    model: str | None,
    files: tuple[Path, ...],
    as_json: bool,
    detach: bool,
    url: str | None,
) -> int:
    """Ask one question, and print the answer as it arrives.

    QUESTION may be several words. Quote it if it contains a `?`, `*` or `'`, which the shell would interpret. It is
    read from standard input if it is `-`, or if it is omitted and standard input is not a terminal. On a terminal, tool
    calls and notices are shown with the answer. Otherwise the answer and its sources go to standard output as plain
    text, and everything else to standard error. The run is not recorded; those of `oracle serve` are.

    With --detach a running service answers, even if nobody reads; `oracle runs watch --answer RUN` shows the answer.

    Settings come from the environment and from a file `.env` in the working directory; `oracle serve --help` lists
    them.

    \b
    Exit codes:
      0    the model produced text, and the run did not end with an error
      1    it did not, or the run could not start: a limit, a setting, the tree or a folder is invalid
      2    an option is unknown or has no value
      130  interrupted with Ctrl-C (143: by SIGTERM); the answer so far is shown
      141  the reader of standard output closed it
    """  # noqa: D301  click's mark for lines that are not rewrapped
    given = {"tree": tree, "limits": limits, "model": model, "as_json": as_json}
    if not detach and url is not None:
        raise click.UsageError("--url names the service for --detach; give both or neither")
    if detach and (project or vault or files):
        raise click.UsageError(
            "--project, --vault and --attach cannot be combined with --detach: the service has its own files"
        )
    return int(
        imported("oracle.cli.asking:detach")(" ".join(question) or None, url=url, **given)
        if detach
        else imported("oracle.cli.asking:ask")(
            " ".join(question) or None, project=project, vault=vault, files=files, **given
        )
    )
