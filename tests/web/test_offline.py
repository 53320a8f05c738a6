"""What the console says where no language model answers."""

import pytest
from playwright.async_api import expect

from tests.service.users import OPERATOR, TOKENS

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Where is RetryPolicy defined in the code?"


@pytest.fixture(scope="module")
def settings():
    return {
        "ORACLE_LLM": "offline",
        "ORACLE_TOKENS": ",".join(f"{token}={user}" for user, token in TOKENS.items()),
        "ORACLE_OPERATORS": OPERATOR,
    }


@pytest.mark.parametrize(
    ("user", "advice"),
    [(OPERATOR, "To use one, set ANTHROPIC_API_KEY"), ("alice", "The operator of this service can connect one.")],
)
async def test_a_conversation_says_once_that_the_offline_model_answered(tab, user, advice) -> None:
    await tab.context.add_init_script(f"sessionStorage.setItem('oracle.token', '{TOKENS[user]}')")
    await tab.go("/")
    completed = tab.page.get_by_text("Completed", exact=True)
    for count in (1, 2):
        await tab.ask(QUESTION)
        await expect(completed).to_have_count(count)
        note = tab.page.get_by_role("status").filter(has_text="The offline model answered.")
        await expect(note).to_have_count(1)
        await expect(note).to_contain_text(advice)
    first = tab.page.get_by_role("article").first
    await expect(first).to_contain_text("The offline model answered.")
