"""Files of a question: attached by button, paste and drop, refused beside their name, shown with what was asked."""

from base64 import b64encode

import pytest
from playwright.async_api import expect

from tests.acceptance.scripts import answers
from tests.web.axe import findings
from tests.web.tab import PHONE, Tab

pytestmark = pytest.mark.asyncio(loop_scope="session")

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x03\x08\x02\0\0\0"
NOT_TAKEN = b"PK\x03\x04" + bytes(20)
GIVE = """([kind, name, type, data]) => {
  const transfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
  transfer.items.add(new File([bytes], name, { type }));
  const field = document.querySelector('textarea[aria-label="Question"]');
  const init = { bubbles: true, cancelable: true };
  field.dispatchEvent(
    kind === "paste"
      ? new ClipboardEvent("paste", { ...init, clipboardData: transfer })
      : new DragEvent("drop", { ...init, dataTransfer: transfer }),
  );
}"""


def file(name: str, data: bytes, kind: str = "image/png"):
    return {"name": name, "mimeType": kind, "buffer": data}


async def give(tab: Tab, how: str, name: str, data: bytes) -> None:
    await tab.page.evaluate(GIVE, [how, name, "text/plain", b64encode(data).decode()])


async def test_files_are_attached_removed_sent_and_shown_again(tab: Tab, desk) -> None:
    desk.play(answers("A cat, and two texts."))
    tab.watch.allow("415")
    await tab.go()
    page = tab.page
    chips = page.get_by_role("list", name="Attached files")
    await page.get_by_label("Files to attach").set_input_files([file("cat.png", PNG), file("cat.zip.png", NOT_TAKEN)])
    await give(tab, "paste", "pasted.txt", b"hello")
    await give(tab, "drop", "dropped.txt", b"hello")
    await expect(chips.get_by_role("listitem")).to_have_count(4)
    await expect(chips.get_by_role("alert")).to_contain_text("is a ZIP archive")
    await expect(chips.get_by_text("Uploading…")).to_have_count(0)
    assert await findings(page) == []
    await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    await page.get_by_role("button", name="Remove cat.zip.png").click()
    await expect(chips.get_by_role("listitem")).to_have_count(3)
    await tab.ask("What is on it?")
    await expect(page.get_by_text("A cat, and two texts.").first).to_be_visible()
    sent = page.get_by_role("article").get_by_role("list", name="Attached files")
    await expect(sent.get_by_role("listitem")).to_have_text(["cat.png", "pasted.txt", "dropped.txt"])
    await expect(chips).to_have_count(1)
    content = desk.bodies[-1]["messages"][0]["content"]
    assert [block["type"] for block in content] == ["image", "text", "text", "text"]
    await page.reload()
    await expect(sent.get_by_role("listitem")).to_have_text(["cat.png", "pasted.txt", "dropped.txt"])
    assert await findings(page) == []
