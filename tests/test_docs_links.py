"""Every link between the pages leads to a file, and to a heading of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
LINKS = [
    pytest.param(page, link, id=f"{page.name}-{link}")
    for page in PAGES
    for link in sorted(set(re.findall(r"\]\(((?!https?:)[^)\s]+)\)", page.read_text(encoding="utf-8"))))
]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub makes links of them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_a_link_leads_to_a_file_and_a_heading(page: Path, link: str) -> None:
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    assert target.exists()
    assert not anchor or anchor in anchors(target)
