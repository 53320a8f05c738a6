"""What an answer claims, matched with what a run did: sentences that have a match or claim nothing, and false ones."""

import pytest

from oracle.features.evidence.matching import unmatched
from oracle.features.evidence.record import Call, Done

AUTH = """src/auth.py, lines 1-8 of 8
  1 | \"\"\"Sessions.\"\"\"
  2 |
  3 | TIMEOUT_S = 900
  4 |
  5 |
  6 | def check_token(token: str) -> bool:
  7 |     \"\"\"Whether a token is valid.\"\"\"
  8 |     return token.startswith("ok")"""
NOTE = """decisions/auth.md, lines 1-5 of 5
  1 | # Auth
  2 |
  3 | Status: adopted in March by Anna
  4 |
  5 | Tokens live 15 minutes."""
CALLS = (
    Call("list_files", {}, "src/ (3 files)\nREADME.md"),
    Call("list_files", {"path": "src"}, "src/auth.py\nsrc/limits.py\nsrc/views.py"),
    Call("search_code", {"query": "rate limit"}, "src/limits.py:12 (score 4.1)\n  11 |\n> 12 | RATE = 5\n  13 |"),
    Call("read_file", {"path": "src/auth.py"}, AUTH),
    Call("read_file", {"path": "src/gone.py"}, "there is no file 'src/gone.py' in the project.", ok=False),
    Call("vault_read", {"path": "decisions/auth.md"}, NOTE),
    Call(
        "vault_write",
        {"path": "notes/review.md", "body": "# Review\n\nThe timeout is 900 s."},
        "Wrote notes/review.md (3 lines).",
    ),
    Call(
        "vault_write",
        {"path": "decisions/auth.md", "body": "x"},
        "the note 'decisions/auth.md' exists already and was not changed.",
        ok=False,
    ),
    Call(
        "thread_push",
        {"thread": "release", "content": "Reviewed."},
        "Began the thread threads/release.md (2026-01-05T09:30:00Z).",
    ),
    Call("shell.run", {"command": "make test"}, "42 passed in 3.1s"),
)
DONE = Done(CALLS, said=("Review src/auth.py, save a note, and tell me whether the tests pass.",))
READ_ONLY = Done(CALLS[:4], said=("What does check_token do?",))
NOTHING = Done((), said=("What is a closure?",))

TRUE = (
    "I read `src/auth.py` and saved the review to `notes/review.md`.",
    "I've written the note [notes/review.md](notes/review.md) and added an entry to the thread `release`.",
    "The review has been saved to notes/review.md.",
    "Saved the review to `notes/review.md`.",
    "All 42 tests pass.",
    "I ran `make test`: 42 passed.",
    "I ran the tests, and they pass.",
    "I searched the code for a rate limit.",
    "I checked the token handling in src/auth.py:6-8.",
    "The timeout is set in `src/auth.py#L3`.",
    "See line 12 of src/limits.py.",
    'The note says "Tokens live 15 minutes" (decisions/auth.md:5).',
    "Anna adopted it in March, as decisions/auth.md records.",
    "I could not read `src/gone.py`, because there is no such file.",
    "I tried to replace decisions/auth.md, but it exists already.",
    "I did not change `decisions/auth.md`.",
    "I have not run the linter.",
    "I never opened src/views.py.",
    "I will write the result to `decisions/limits.md` if you agree.",
    "I'll add a test in `tests/test_auth.py` next.",
    "You could run `make lint` yourself.",
    "If you had saved it in `notes/old.md`, it would be listed.",
    "Once I have written decisions/limits.md, tell Anna.",
    "I would have checked the logs, but there are none.",
    "Should I say that I wrote decisions/limits.md?",
    'You said "I wrote decisions/limits.md yesterday", and there is no such note.',
    "It works with TCP/IP, and/or a client/server pair, 24/7, since version 2.10.1 of 2025/01/31.",
    "See https://example.com/docs/guide.html for Node.js and Vue.js.",
    "Create `src/cache.py` with these lines:\n\n```python\n# I saved this to src/cache.py:99\nx = 1\n```\n",
    "You might put it into a file such as `config/limits.yaml`.",
    "There is no `src/cache.py` in the project.",
    "The support for tokens has been removed by Anna in version 3.",
    "Nothing was written.",
    "No test fails.",
    "Make sure that the tests pass before you merge.",
    "If the tests pass, merge it.",
    "- `src/auth.py:3` sets `TIMEOUT_S`.\n- `src/limits.py:12` sets the rate.",
    "| file | line |\n|---|---|\n| src/auth.py | 6 |",
    "I found nothing about refresh tokens.",
    "I left the rest unchanged.",
    "I added a table below.\n\n| a | b |",
)  # fmt: skip
FALSE = (
    ("I saved the summary to `decisions/summary.md`.", "deed"),
    ("I've updated decisions/auth.md.", "deed"),
    ("The new rule has been saved to decisions/limits.md.", "deed"),
    ("The note decisions/auth.md has been replaced.", "deed"),
    ("Saved your review to `notes/final.md`.", "deed"),
    ("I added an entry to the thread `incidents`.", "deed"),
    ("I also read `src/views.py`.", "deed"),
    ("I read src/auth.py and reviewed src/views.py.", "deed"),
    ("I ran `make lint`.", "deed"),
    ("I checked the deployment logs.", "deed"),
    ("I emailed Anna about it.", "deed"),
    ("I deleted the old note.", "deed"),
    ("I closed ticket #17.", "deed"),
    ("I searched the web for it.", "deed"),
    ("I searched the code for `refresh_token`.", "deed"),
    ("I committed the change.", "deed"),
    ("I wrote five notes.", "deed"),
    ("The lint is clean.", "deed"),
    ("It is set in src/auth.py:120.", "citation"),
    ("See line 40 of `src/limits.py`.", "citation"),
    ("The cache is in `src/cache.py`.", "citation"),
    ("See [the policy](docs/policy.md) for more.", "citation"),
    ("src/views.py defines the routes.", "citation"),
    ("src/auth.py defines `RefreshToken`.", "citation"),
    ('The note decisions/auth.md says "tokens never expire at all".', "quotation"),
    ("From decisions/auth.md:\n\n> Every token is renewed after one hour of use.", "quotation"),
)  # fmt: skip


@pytest.mark.parametrize("answer", TRUE)
def test_a_true_answer_has_no_unmatched_claim(answer: str) -> None:
    assert unmatched(answer, DONE) == ()


@pytest.mark.parametrize(("answer", "kind"), FALSE)
def test_a_false_claim_is_found_with_its_kind(answer: str, kind: str) -> None:
    found = unmatched(f"The timeout is 900 s. {answer}", DONE)
    assert [each.kind for each in found] == [kind]
    assert found[0].reason
    assert found[0].quote in answer
