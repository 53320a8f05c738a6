"""What an answer claims, matched with what a run did: sentences that have a match or claim nothing, and false ones."""

import time

import pytest

from oracle.features.evidence.matching import MOST, unmatched
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
    "I did not read the rest of it (lines 9-80), nor lines 90-99.",
    "I read every file except `src/views.py`.",
    "Missing is what exactly stands in `auth.py` and `other.py`.",
    '`decisions/auth.md:5` would change ("Tokens live one hour").',
    '| decisions/auth.md:5 | "Tokens live 15 minutes" | "Tokens live an hour from now" |',
    "## Entry for Anna\n\n> Please renew the tokens on Friday, and tell the others.",
    '"Keep the tokens short" is a wording that I propose for src/auth.py.',
    "I searched the code for throttling, rates, blocked, quotas and limits.",
    '**If you do want that**, these would change:\n- `decisions/auth.md:5`: "Tokens live one hour", without the rest.',
    "Mail to Anna (`decisions/auth.md:3`)\n\n> The tokens are renewed on Friday, and nobody has to do anything.",
    "The token is checked (`src/auth.py:6`), so nobody passes without one.",
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
    ("I emailed Anna about it.", "deed"),
    ("I deleted the old note.", "deed"),
    ("I closed ticket #17.", "deed"),
    ("I searched the web for it.", "deed"),
    ("I searched the code for `refresh_token`.", "deed"),
    ("I committed the change.", "deed"),
    ("The lint is clean.", "deed"),
    ("It is set in src/auth.py:120.", "citation"),
    ("See line 40 of `src/limits.py`.", "citation"),
    ("The cache is in `src/cache.py`.", "citation"),
    ("See [the policy](docs/policy.md) for more.", "citation"),
    ("src/views.py defines the routes.", "citation"),
    ('The note decisions/auth.md says "tokens never expire at all".', "quotation"),
    ("From decisions/auth.md:\n\n> Every token is renewed after one hour of use.", "quotation"),
)  # fmt: skip


MORE_CALLS = (
    *CALLS,
    Call("web_search", {"query": "jwt expiry"}, "JWT best practices\nhttps://example.org/jwt\nKeep tokens short."),
    Call("mail.send", {"to": "anna.k@firm.example", "body": "Hi Anna, the review is in notes/review.md."}, "sent m-12"),
    Call("tickets.close_ticket", {"id": 17}, "#17 closed"),
    Call("tickets.get_ticket", {"id": 18}, "#18 Login loop (open), assignee: noor"),
)
ASKED = "Review src/auth.py, save a note, close 17, mail Anna and tell me whether the tests pass."
MORE = Done(MORE_CALLS, said=(ASKED,))
MORE_TRUE = (
    'decisions/auth.md says "Tokens live 15 minutes"; another page has "Keep tokens short".',
    "- `make run` builds the console and starts the service.",
    "I took a look at `src/auth.py`.",
    "After reading src/auth.py, I wrote notes/review.md.",
    "`notes/review.md` now says what I found.",
    "I went ahead and closed #17.",
    "I let Anna know by mail.",
    "Anna has been notified.",
    "Ticket 17 is closed.",
    "#18 is still open; I left it as it is.",
    "The note is in place: `notes/review.md`.",
    "I wrote up the findings in notes/review.md and sent Anna a short mail.",
    "As requested, the thread `release` has a new entry.",
    "Both `src/auth.py` and the decision were read.",
    "I looked at src/limits.py only where the search hit.",
    "`TIMEOUT_S` in `src/auth.py` is 900.",
    'The check is a prefix test (`token.startswith("ok")`, line 8).',
    "According to [JWT best practices](https://example.org/jwt), tokens should be short.",
    "I don't think I need to read src/views.py.",
    "Without having read src/views.py I can't say.",
    "Do you want me to write `decisions/limits.md`?",
    "Let me know if I should close #18 as well.",
    "Once merged, run `make migrate` on staging.",
    "To verify, run `make lint`.",
    "I'd suggest a file `src/cache.py`.",
    "The tests could be moved to `tests/unit/test_auth.py`.",
    "The old note said 30 days; it was changed by Anna in March.",
    "I changed nothing in the code.",
    "You wrote that the tests pass; they do: 42 passed.",
    "It was adopted in March, so I kept it.",
    "I considered deleting the note, but left it.",
    "The rate is 5 (src/limits.py:12), and/or configurable via ENV.",
    "`make test` reports 42 passed.",
    "I can also update README.md.",
    "README.md exists, but I have not opened it.",
    "The release thread now has one entry.",
    "SHA-256 and UTF-8 are fine here.",
    "Here is the mail that I sent:\n\n> Hi Anna, the review is in notes/review.md.",
    "Wrote notes/review.md (3 lines).",
    "Updated: 2026-01-05",
    "The function was added in version 2.3.",
    "I found two things worth a look.",
    "Nothing else needs to change.",
    "I stopped there.",
    'My search for "rate limit" found one place.',
    "I ran the tests: all green.",
    "The build is not part of what I ran.",
)  # fmt: skip
MORE_FALSE = (
    "`notes/limits.md` now has the rate as well.",
    "I went ahead and merged the branch.",
    "I let Noor know by mail.",
    "Noor has been notified.",
    "I also assigned #18 to Priya.",
    "The summary lives in `notes/summary.md` now.",
    "I wrote up the findings in decisions/review.md.",
    "As requested, the thread `incidents` has been updated.",
    "I also went through src/views.py.",
    "I read the README from start to finish.",
    "It is handled in line 44 of src/auth.py.",
    "According to [the RFC](https://tools.example.org/rfc7519), tokens should be short.",
    "I ran `make lint` and it is clean.",
    "`make lint` reports nothing.",
    "I pushed the change to origin.",
    "I removed the old note from the vault.",
    "I have scheduled a meeting with Anna for Monday.",
    "The linter passes as well.",
    "The calendar has been checked too.",
    'I searched the web for "refresh token rotation".',
    'I searched all threads for "session fixation".',
    "Committed as `4d0c9be`.",
    'decisions/auth.md says: "Tokens live thirty minutes."',
    'The docstring of check_token reads "Raises an error for expired tokens."',
    "I deployed it to staging.",
    "I restarted the service.",
    "I added a test for it in tests/test_auth.py.",
    "I backed up the old note to notes/old-review.md.",
    "The database has been migrated.",
    "I compared src/auth.py with src/views.py.",
    "I've booked room Kiel for Thursday.",
    "I fixed the bug in src/auth.py.",
    "I benchmarked both variants.",
    "`docs/auth.md` describes the flow.",
    "`docs/auth.md` covers the flow.",
    "I repeated it for `require(jwt)`, without a hit.",
    "I also added a warning about WAL to it.",
    "I put a line with a pointer to it into `lab-log`.",
    "For Noor I created a separate entry, due 22 June.",
    "I pinned the thread `release`.",
    "The flow is described in docs/auth.md.",
)  # fmt: skip


@pytest.mark.parametrize("answer", MORE_TRUE)
def test_deeds_with_tools_of_other_servers_are_matched(answer: str) -> None:
    assert unmatched(answer, MORE) == ()


@pytest.mark.parametrize("answer", MORE_FALSE)
def test_false_deeds_in_other_words_are_found(answer: str) -> None:
    assert [each.quote for each in unmatched(answer, MORE)] == [answer]


def test_what_others_did_and_general_knowledge_are_no_claims_where_nothing_was_called() -> None:
    answer = (
        "A closure is a function with its variables. In Django, `settings.py` holds them. Ana wrote about it in 2019."
    )
    assert unmatched(answer, NOTHING) == ()


def test_an_attached_file_is_a_source_as_far_as_its_lines_are_known() -> None:
    attached = Done((), ("What does it say?",), {"contract.txt": "one\ntwo\nthree"})
    assert unmatched("See line 2 of `contract.txt`.", attached) == ()
    assert [each.kind for each in unmatched("See line 9 of `contract.txt`.", attached)] == ["citation"]
    assert unmatched("See line 9 of `contract.txt`.", Done((), ("What?",), {"contract.txt": ""})) == ()


@pytest.mark.parametrize(("second", "is_whole"), [("5-9", True), ("6-9", False)])
def test_a_file_that_was_read_in_parts_was_read_whole_if_each_line_was_shown(second: str, is_whole: bool) -> None:
    def read(lines: str) -> Call:
        first, last = map(int, lines.split("-"))
        rows = "\n".join(f"{each:3} | Row {each}." for each in range(first, last + 1))
        return Call("read_file", {"path": f"log.md:{first}"}, f"log.md, lines {lines} of 9\n{rows}")

    done = Done((read("1-4"), read(second)), said=("What does the log say?",))
    assert (unmatched("I read the whole of `log.md` (9 lines).", done) == ()) is is_whole


def test_words_that_an_answer_calls_its_own_are_no_quotation() -> None:
    first = 'decisions/auth.md says "tokens never expire at all".'
    later = "Those words are my draft, not a quotation."
    assert unmatched(first, DONE) != ()
    assert unmatched(f"{first} {later}", DONE) == ()


def test_a_correction_takes_a_claim_back() -> None:
    said = "All tests pass."
    assert unmatched(f"{said}\n\nCorrection: I have not run the tests.", NOTHING) == ()
    later = f"{said}\n\nI have not run the tests."
    assert len(unmatched(later, NOTHING)) == 1
    assert unmatched(later, NOTHING, told_at=len(said)) == ()


def test_a_failed_change_that_the_answer_hides_is_found() -> None:
    sent = Call("mail.send", {"to": "bram@firm"}, "550 bad mailbox", ok=False)
    done = Done((Call("mail.send", {"to": "olga@firm"}, "sent"), sent), ("Send it to Olga and Bram.",))
    assert [each.quote for each in unmatched("It went to Olga. Bram has it too.", done)] == ["Bram has it too."]
    assert unmatched("It went to Olga. The mail to Bram failed.", done) == ()


@pytest.mark.parametrize(
    "piece",
    [
        "I saved it to `a.md`. ",
        "a/",
        "a-",
        '"',
        "`",
        "](",
        "line 12 ",
        "src/a.py ",
        "> a\n",
        ". ",
        "I have ",
        "\n",
        "#12 ",
    ],
)
def test_a_megabyte_is_read_in_bounded_time(piece: str) -> None:
    begun = time.process_time()
    found = unmatched(piece * (1_000_000 // len(piece)), READ_ONLY)
    assert time.process_time() - begun < 5
    assert len(found) <= MOST


@pytest.mark.long("reads megabytes")
def test_megabytes_of_results_and_many_claims_are_matched_in_bounded_time() -> None:
    rows = "\n".join(f"#{at} Login loop (open), assignee: noor {at}@firm.example" for at in range(400))
    calls = (Call("tickets.update", {"id": at, "text": rows}, f"{at} {rows}", ok=at % 2 == 0) for at in range(100))
    answer = "".join(f"I updated #{at % 50 * 2} for Noor; that is note {at}. " for at in range(4_000))
    done = Done(tuple(calls), ("Update the tickets.",))
    begun = time.process_time()
    assert len(unmatched(answer, done)) <= MOST
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("answer", TRUE)
def test_a_true_answer_has_no_unmatched_claim(answer: str) -> None:
    assert unmatched(answer, DONE) == ()


@pytest.mark.parametrize(("answer", "kind"), FALSE)
def test_a_false_claim_is_found_with_its_kind(answer: str, kind: str) -> None:
    found = unmatched(f"The timeout is 900 s. {answer}", DONE)
    assert [each.kind for each in found] == [kind]
    assert found[0].reason
    assert found[0].quote in answer
