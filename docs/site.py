"""What MkDocs needs besides `.mkdocs.yml`: links that leave `docs/`, and a first page."""

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)\s]+)\)")


def on_page_markdown(text: str, *, page: Any, **_: Any) -> str:  # noqa: ANN401  MkDocs' types
    """Keep only the text of links to files outside `docs/`: the site has the pages alone."""
    folder = posixpath.dirname(page.file.src_uri)

    def kept(link: re.Match[str]) -> str:
        return link[1] if posixpath.normpath(posixpath.join(folder, link[2])).startswith("..") else link[0]

    return _LINK.sub(kept, text)


def on_post_build(config: Any, **_: Any) -> None:  # noqa: ANN401
    """The site begins with the page `Start`."""
    site = Path(config["site_dir"])
    shutil.copyfile(site / "start.html", site / "index.html")
