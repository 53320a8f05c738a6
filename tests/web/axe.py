"""What axe-core finds wrong in a page; it runs inside it, by the browser's own tools, past the page's policy."""

from collections.abc import Sequence
from typing import Any

from playwright.async_api import Page

from tests.web.built import REPOSITORY

AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of what another theme changes."""

_RUN = """
async (rules) => {
  const options = rules.length ? { runOnly: rules } : {};
  const { violations } = await axe.run(document, { ...options, resultTypes: ["violations"] });
  return violations.map(({ id, impact, nodes }) => ({
    id, impact, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })),
  }));
}
"""


async def findings(page: Page, *impacts: str, rules: Sequence[str] = ()) -> list[str]:
    """The findings of these impacts, a line each: rule, element, what is wrong.

    Args:
        page: where.
        impacts: which count.
        rules: which are tried, if not all.
    """
    if await page.evaluate("typeof axe === 'undefined'"):
        await page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = await page.evaluate(_RUN, list(rules))
    return [
        f"{each['impact']} {each['id']}: {node['target']} {' '.join(node['failureSummary'].split())}"
        for each in found
        if each["impact"] in (impacts or GRAVE)
        for node in each["nodes"]
    ]
