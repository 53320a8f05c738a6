"""Pictures of every page of the console in every state: `make screenshots`, or `python -m tests.web.screenshots`.

Each is taken in light and dark, on a laptop, a wide screen and a phone, against the real service with the runs of the
gallery. `index.html` beside them shows all, next to other pictures of the same name if `--beside` names their folder;
`index.png` is a picture of that. `--documents` writes those of the documents to `docs/pictures` instead. What a page
must never do (see `tests/web/watch.py`) is printed; the exit code is 1.
"""

import argparse
import asyncio
import fnmatch
import html
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Error, async_playwright

from tests.web.built import REPOSITORY, missing_for_the_console
from tests.web.gallery import Gallery, gallery
from tests.web.scenes import SCENES, Scene, settled
from tests.web.tab import SIZES, THEMES, Theme, find_chromium, launch, open_tab

FOLDER = REPOSITORY / "build" / "screenshots"
PICTURES = REPOSITORY / "docs" / "pictures"
SHOWN = {"chat": "chat-tree", "run": "run-fallback"}
"""The pictures of the documents, and the scenes that they show."""
_MOST_BYTES = 250_000


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture.

    Args:
        scene: what it shows.
        theme: light or dark.
        size: the name of the viewport's size.
    """

    scene: str
    theme: Theme
    size: str

    @property
    def file(self) -> str:
        return f"{self.scene}-{self.theme}-{self.size}.png"


async def take(browser: Browser, scene: Scene, it: Gallery, shot: Shot, folder: Path) -> list[str]:
    """Take one picture; what went wrong, a line each."""
    at = scene.at or (scene.line.url if scene.line else it.server.url)
    tab = await open_tab(browser, at, size=SIZES[shot.size], theme=shot.theme)
    try:
        if scene.line is not None:
            scene.line.mend()
            tab.watch.allow("net::ERR_|Failed to load")
        if scene.allows:
            tab.watch.allow(scene.allows)
        await tab.go(scene.path)
        await scene.act(tab)
        await settled(tab.page, is_loading=scene.is_loading)
        problems = tab.watch.unexpected
    except (AssertionError, Error) as error:
        problems = [*tab.watch.unexpected, str(error).strip().splitlines()[0]]
    await tab.page.screenshot(path=folder / shot.file)
    await tab.context.close()
    return [f"{shot.file}: {problem}" for problem in problems]


async def take_all(browser: Browser, it: Gallery, shots: Sequence[Shot], folder: Path) -> list[str]:
    problems: list[str] = []
    for name in dict.fromkeys(shot.scene for shot in shots):
        async with SCENES[name](it) as scene:
            for shot in shots:
                if shot.scene == name:
                    problems += await take(browser, scene, it, shot, folder)
                    print(f"  {shot.file}", flush=True)
    return problems


async def take_for_documents(browser: Browser, it: Gallery) -> list[str]:
    """Write the pictures that the documents show."""
    problems: list[str] = []
    for name, shown in SHOWN.items():
        async with SCENES[shown](it) as scene:
            for theme in THEMES:
                shot = Shot(shown, theme, "1280")
                problems += await take(browser, scene, it, shot, PICTURES)
                (PICTURES / shot.file).replace(PICTURES / f"{name}-{theme}.png")
    large = [each.name for each in PICTURES.glob("*.png") if each.stat().st_size > _MOST_BYTES]
    return problems + [f"{name} has more than {_MOST_BYTES:,} bytes" for name in large]


async def write_sheet(browser: Browser, shots: Iterable[Shot], folder: Path, beside: Path | None) -> None:
    """A page with all pictures, and a picture of it."""
    rows = []
    for shot in shots:
        theirs = beside / shot.file if beside else None
        other = f'<img src="{theirs.resolve().as_uri()}" alt="">' if theirs and theirs.exists() else ""
        rows.append(f'<h2>{html.escape(shot.file)}</h2><div><img src="{shot.file}" alt="">{other}</div>')
    style = (
        "body { font: 14px system-ui; margin: 24px; background: #888; } h2 { font-size: 14px; }"
        "div { display: flex; gap: 16px; } img { width: 640px; height: max-content; }"
    )
    sheet = folder / "index.html"
    sheet.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{''.join(rows)}", encoding="utf-8")
    page = await browser.new_page(viewport={"width": 1360, "height": 800})
    await page.goto(sheet.resolve().as_uri())
    await page.screenshot(path=folder / "index.png", full_page=True)
    await page.close()


async def run(given: argparse.Namespace) -> int:
    if (missing := missing_for_the_console()) or (chromium := find_chromium()) is None:
        print(missing or "There is no Chromium on the PATH: install the package `chromium`.", file=sys.stderr)
        return 1
    shots = [
        Shot(name, theme, size)
        for name in SCENES
        if any(fnmatch.fnmatch(name, pattern) for pattern in given.only)
        for theme in given.themes
        for size in given.sizes
    ]
    (PICTURES if given.documents else given.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        async with async_playwright() as playwright, gallery(Path(name), pace=given.pace) as it:
            browser = await launch(playwright, chromium)
            if given.documents:
                problems = await take_for_documents(browser, it)
            else:
                problems = await take_all(browser, it, shots, given.folder)
                await write_sheet(browser, shots, given.folder, given.beside)
            await browser.close()
    for problem in problems:
        print(f"WRONG: {problem}")
    if given.documents:
        print(f"The pictures of the documents are in {PICTURES}")
    else:
        print(f"{len(shots)} pictures are in {given.folder}; {given.folder / 'index.html'} shows them all")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="where they are written (%(default)s)")
    parser.add_argument("--beside", type=Path, help="a folder with other pictures of the same names")
    parser.add_argument("--only", nargs="+", default=["*"], help=f"some of {', '.join(SCENES)}; `*` and `?` work")
    parser.add_argument("--themes", nargs="+", choices=THEMES, default=THEMES)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--documents", action="store_true", help=f"write those of the documents, to {PICTURES}")
    parser.add_argument("--pace", type=float, default=1.0, help="how long turns take, as a part of what a model takes")
    return asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
