"""What axe-core finds wrong in a page; it runs inside it, by the browser's own tools, past the page's policy."""

from typing import Any

from playwright.async_api import Page

from tests.web.built import REPOSITORY

AXE = REPOSITORY / "web" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")

_RUN = """
async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map(({ id, impact, nodes }) => ({
    id, impact, nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })),
  }));
}
"""


async def findings(page: Page, *impacts: str) -> list[str]:
    """The findings of these impacts, a line each: rule, element, what is wrong."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = await page.evaluate(_RUN)
    return [
        f"{each['impact']} {each['id']}: {node['target']} {' '.join(node['failureSummary'].split())}"
        for each in found
        if each["impact"] in (impacts or GRAVE)
        for node in each["nodes"]
    ]
