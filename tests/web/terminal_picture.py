"""A picture of what a command writes to a terminal, in its own colours."""

import asyncio
import io
import os
import sys
from pathlib import Path

from playwright.async_api import Browser
from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import TerminalTheme

_COLUMNS = 104
_INK, _CANVAS = (237, 237, 241), (13, 13, 16)
_THEME = TerminalTheme(_CANVAS, _INK, [_CANVAS] * 8, [_INK] * 8)
_PAGE = """\
<!doctype html><meta charset="utf-8"><style>
body {{ width: max-content; margin: 0; padding: 24px; background: {background}; color: {foreground}; }}
pre {{ margin: 0; font: 13px/18px "JetBrains Mono", "DejaVu Sans Mono", monospace; font-variant-ligatures: none; }}
</style><pre>{code}</pre>"""


async def written(*arguments: str) -> str:
    """What `oracle` writes to a terminal that has all colours."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "oracle", *arguments, "--color", "always"),
        env=os.environ | {"COLUMNS": str(_COLUMNS), "COLORTERM": "truecolor", "TERM": "xterm-256color"},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    return output.decode()


async def draw(browser: Browser, text: str, file: Path) -> None:
    """Draw text with the escape sequences of colours."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in AnsiDecoder().decode(text):
        console.print(line, soft_wrap=True)
    page = await browser.new_page(viewport={"width": 900, "height": 600})
    await page.set_content(console.export_html(theme=_THEME, code_format=_PAGE, inline_styles=True))
    await page.evaluate("document.fonts.ready")
    await page.locator("body").screenshot(path=file)
    await page.close()
