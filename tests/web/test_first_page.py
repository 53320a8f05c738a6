"""The first page: how much of it there is, how fast it is usable, and what stays in the browser."""

import gzip
import json
from collections.abc import Iterator

import pytest

from tests.web.built import FILES
from tests.web.tab import open_tab

MOST_BYTES = 400_000
MOST_MS = 1_000
FIRST = "src/pages/chat/index.tsx"
PALETTE = "src/app/Palette.tsx"
"""The code that is loaded behind the first page."""

in_session_loop = pytest.mark.asyncio(loop_scope="session")

WHEN_USABLE = """
globalThis.usableMs = new Promise((tell) => {
  (function look() {
    const field = document.querySelector("textarea");
    field?.focus();
    if (field && document.activeElement === field) tell(performance.now());
    else requestAnimationFrame(look);
  })();
});
"""
"""Tells when the field for questions took the focus, in milliseconds from the start of the navigation."""

WORK = """
() => {
  const begun = performance.now();
  const made = Array.from({ length: 400_000 }, (_, n) => ({ name: String(n) }));
  made.sort((one, other) => (one.name < other.name ? -1 : 1));
  JSON.parse(JSON.stringify(made));
  return performance.now() - begun;
}
"""
"""Work of a fixed size, by which the speed of the machine is known: 0.3 s where the page is usable after 0.5 s."""

HAVE_COME = """
(files) => {
  const come = new Set(performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  return files.every((each) => come.has(`/${each}`));
}
"""

LOADED = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => !entry.name.includes("/api/"))
  .map((entry) => [new URL(entry.name).pathname, entry.encodedBodySize, entry.transferSize])
"""


@pytest.fixture(scope="module")
def manifest(console):
    return json.loads((FILES / ".vite" / "manifest.json").read_text(encoding="utf-8"))


def files_of(page, manifest):
    """The files that a page needs to be shown."""
    chunks = {*needed("index.html", manifest), *needed(page, manifest)}
    return {"index.html"} | {
        each for name in chunks for each in (manifest[name]["file"], *manifest[name].get("css", ()))
    }


def needed(chunk, manifest) -> Iterator[str]:
    yield chunk
    for each in manifest[chunk].get("imports", ()):
        yield from needed(each, manifest)


def test_the_first_page_is_small(manifest):
    pages = [name for name in manifest if name.startswith("src/pages/")]
    sizes = {
        page: sum(len(gzip.compress((FILES / name).read_bytes(), mtime=0)) for name in files_of(page, manifest))
        for page in pages
    }
    print(f"first page: {sizes[FIRST]:,} bytes by gzip")  # noqa: T201  for `pytest -s`
    assert {page: size for page, size in sizes.items() if size > MOST_BYTES} == {}


@in_session_loop
async def test_the_first_page_is_usable_within_a_second(chromium, service):
    times, works = [], []
    for _ in range(30):  # the fastest counts: what else this machine does only adds to it
        tab = await open_tab(chromium, service.url)
        await tab.context.add_init_script(WHEN_USABLE)
        await tab.go("/")
        times.append(await tab.page.evaluate("globalThis.usableMs"))
        loaded = await tab.page.evaluate(LOADED)
        works.append(await tab.page.evaluate(WORK))
        await tab.context.close()
        if times[-1] < MOST_MS:
            break
    most = max(MOST_MS, 3 * min(works))
    sent = sum(size for _, size, _ in loaded)
    print(f"first page: usable after {min(times):.0f} ms; {sent:,} bytes as sent")  # noqa: T201  for `pytest -s`
    assert min(times) < most
    assert sent < MOST_BYTES


@in_session_loop
async def test_files_stay_in_the_browser(tab, manifest):
    files = sorted((files_of(FIRST, manifest) | files_of(PALETTE, manifest)) - {"index.html"})
    await tab.go("/")
    await tab.composer.wait_for()
    await tab.page.wait_for_function(HAVE_COME, arg=files)
    before = {path for path, _, _ in await tab.page.evaluate(LOADED) if path.startswith("/assets/")}
    await tab.go("/runs")
    await tab.go("/")
    await tab.composer.wait_for()
    await tab.page.wait_for_function(HAVE_COME, arg=files)
    again = {path: sent for path, _, sent in await tab.page.evaluate(LOADED) if path.startswith("/assets/")}
    assert len(before) >= 4
    assert again == dict.fromkeys(before, 0)


@in_session_loop
@pytest.mark.parametrize(
    "script",
    [
        "document.createElement('div').innerHTML = '<b>x</b>'",
        "document.body.insertAdjacentHTML('beforeend', '<b>x</b>')",
        "trustedTypes.createPolicy('mine', { createHTML: (text) => text })",
        "new Function('return 1')",
    ],
)
async def test_a_script_of_the_page_makes_no_markup_and_no_code_out_of_text(tab, script):
    tab.watch.allow("policy violation|TrustedHTML|TrustedScript|Policy|policy|Content Security")
    await tab.go("/")
    # `evaluate` is exempt from the policy; a timer is not.
    timed = f"try {{ {script}; tell('done'); }} catch (error) {{ tell(error.name); }}"
    outcome = await tab.page.evaluate(f"new Promise((tell) => setTimeout(() => {{ {timed} }}))")
    assert outcome in {"TypeError", "EvalError"}
