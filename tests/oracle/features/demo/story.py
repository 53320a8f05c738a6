"""The story of the demo: Lantern, the lending desk of a town library, and what people ask about it."""
# ruff: noqa: E501, ISC004  prose

from pathlib import Path
from typing import Final

MODEL: Final = "claude-sonnet-5-5"
SECOND_MODEL: Final = "claude-haiku-4-5"

NORMAL: Final = "How long can a book be lent?"
LIMIT: Final = "Where are all the places that send mail in the code?"
LOOP: Final = "Where is the fine for a late audiobook set in the code?"
FALLBACK: Final = "Why do some readers get a reminder twice in the code?"
APPROVAL: Final = "Write the rule for renewals into a note."
QUESTION: Final = "What has changed for readers in the release?"
CRASH: Final = "What happens in the code to a hold when the book comes back late?"
SECOND: Final = "Who may change a lending period?"
SHADOWED: Final = "What does the desk do when a card is lost?"

NORMAL_ANSWER: Final = """\
**28 days** for a book, and 14 days for an audiobook or a film (`lantern/loans.py`).

A reader can renew a loan twice, unless somebody else has a hold on it. Each renewal adds the same period, counted from \
the day of the renewal and not from the due date."""
FALLBACK_ANSWER: Final = """\
**Because a reminder that fails is sent again as a whole.** `send_reminders` in `lantern/reminders.py` notes that a \
reminder was sent only after *all* messages of a reader have gone out. If the second message fails, the next night begins \
with the first one again.

Note each message as it goes out, or use the loan's number as the message id, which `lantern/mail.py` already accepts."""
NOTE: Final = "# Renewals\n\nA loan can be renewed twice, unless somebody has a hold on the item.\n"
QUESTION_ANSWER: Final = """\
In **2.1**, readers can renew on the day a loan is due (before, that was too late), and a hold is kept for five days \
instead of three. See `CHANGELOG.md`."""
CRASH_ANSWER: Final = """\
The hold **keeps its place**. `on_return` in `lantern/holds.py` gives the item to the first reader who waits, however late \
it comes back. The late days count only for the reader who had it."""
SECOND_ANSWER: Final = (
    "The branch manager. Staff at the desk can renew a loan, but they cannot change a lending period."
)
SHADOWED_ANSWER: Final = """\
The desk blocks the card at once (`docs/desk.md`). The loans stay on the reader's account, and a new card costs 3.00."""
SHADOW_ANSWER: Final = "The desk blocks the card and prints a new one."
SUMMARY: Final = """\
Goal: the reader wants to understand how Lantern handles returns, holds and reminders before a change to the lending \
periods.
Facts: books 28 days, audiobooks and films 14 (lantern/loans.py); two renewals; a hold stops renewals (lantern/holds.py); \
reminders go out each night for loans that are due in three days (lantern/reminders.py).
Decided: the periods move to a table per branch. Open: what happens to loans that are out when a period changes."""
LONG_ANSWER: Final = """\
Loans that are out **keep their due date**. `due_on` is computed when the loan begins and stored with it, so another \
period counts from the next loan or renewal on."""

_EXCHANGES: Final = (
    (
        "How does Lantern decide when a book is due?",
        "A loan stores its due date when it begins. `due_on` in `lantern/loans.py` adds the period of the item's kind "
        "to the day of the loan: 28 days for books, and 14 days for audiobooks and films. Nothing computes it again "
        "afterwards, so a report and a reminder always see the same date. A renewal writes a new due date, counted "
        "from the day of the renewal. It is refused after two renewals, or when another reader has a hold.",
    ),
    (
        "And when do the reminders go out?",
        "Each night, `send_reminders` collects the loans that are due in three days and sends one message for each "
        "loan. A reader with several loans gets several messages. The job notes the day of the last reminder with the "
        "reader, so that a second run of the same night sends nothing. Messages go through `lantern/mail.py`, which "
        "gives up after three attempts and leaves the rest for the next night.",
    ),
    (
        "What does a hold do to a renewal?",
        "It stops it. `may_renew` asks `lantern/holds.py` whether anybody waits for the item. If so, the reader keeps "
        "the item until its due date and has to bring it back then. When it comes back, `on_return` gives it to the "
        "first reader in the queue, sends a message, and keeps it at the desk for five days. After that the next "
        "reader in the queue gets it.",
    ),
    (
        "What do staff see at the desk when a reader brings back an item late?",
        "The desk shows the loan with its due date, the number of days it is late, and whether anybody waits for the "
        "item. Nothing blocks the return: `on_return` runs as it does for an item in time. If somebody waits, the desk "
        "prints a slip with the name of that reader, and the item goes to the shelf of holds. If nobody waits, it goes "
        "back to its place. The late days are written to the account of the reader who had the item, and the reader "
        "sees them there on the next visit.",
    ),
    (
        "Can a reader have a hold on an item that the same reader has at home?",
        "Nothing in `lantern/holds.py` prevents it. `hold` adds the reader to the queue without a look at the loans. "
        "The effect is odd: the own hold stops the own renewal, because `may_renew` asks only whether anybody waits. A "
        "check in `hold` would need the loans, which that module does not know today. The smaller change is in "
        "`may_renew`: leave out the reader of the loan when it asks who waits. You said that the desk has seen this "
        "twice in the last month, so it is worth a test as well.",
    ),
    (
        "Then please keep that in mind for the change. What about holidays?",
        "Lantern does not know them. A due date can fall on a day on which the library is closed, and the reminder "
        "names that day all the same. A calendar for each branch would sit well beside the table of periods: `due_on` "
        "would move a date to the next open day. As the due date is stored when the loan begins, a holiday that is "
        "added later does not change the loans that are out. Whether that is wanted is a question for the branches.",
    ),
    (
        "Who gets a message when a hold is ready?",
        "The first reader in the queue, and nobody else. `on_return` names that reader; the desk then calls `send_mail` "
        "with the title and the last day on which the item is kept. The message has no id today, so a retry after a "
        "lost connection could deliver it twice. An id made of the item and the reader would prevent that: "
        "`lantern/mail.py` delivers a message with an id once. The readers behind the first one learn nothing until "
        "it is their turn. A list of the queue is shown only at the desk, where staff can also move a reader to the "
        "end of the queue when the reader asks for that.",
    ),
    (
        "And what if the item is never collected?",
        "After five days (`KEPT_DAYS`) the desk gives it to the next reader in the queue, who gets the same message. "
        "The reader who did not collect it loses the place and has to ask again. Nothing in the code does this by "
        "itself: a list of items whose days are over is shown each morning, and staff confirm each one. If the queue "
        "is empty, the item goes back to its place. There is no fine for an item that is not collected, and no note "
        "on the account of the reader.",
    ),
    (
        "We want another lending period for each branch. Where would that go?",
        "Today the periods are the constant `PERIODS` in `lantern/loans.py`, by kind of item. A table by branch and "
        "kind would take its place; `due_on` would get the branch as one more argument. Only two functions call it: "
        "`lend` and `renew`. The tests of both name the periods, so they would need the table as well. Let us say "
        "that this is decided: a table for each branch, with today's figures as the default.",
    ),
    (
        "Good. Do the reminders need a change for that?",
        "No. `send_reminders` reads the stored due date and never the period. The three days before the due date are "
        "a constant of its own. If a branch wants short loans of, say, two days, then a reminder three days before "
        "would come before the loan begins: such loans should get none. That is one condition in `reminders_due`.",
    ),
)
LONG_CONVERSATION: Final = [
    *((role, text) for pair in _EXCHANGES for role, text in zip(("user", "assistant"), pair, strict=True)),
    ("user", "What happens to loans that are out when a period changes?"),
]

_PROJECT: Final = {
    "README.md": """\
# Lantern

Lantern is the software of the lending desk of a town library: loans, renewals, holds and reminders.

- `lantern/loans.py`: how long an item is lent, and how often a loan can be renewed
- `lantern/holds.py`: who gets an item next
- `lantern/reminders.py`: the messages that go out each night
- `docs/desk.md`: what the staff at the desk do
""",
    "CHANGELOG.md": """\
# Changes

## 2.1

- A loan can be renewed on the day it is due.
- A hold is kept at the desk for five days instead of three.

## 2.0

- Reminders go out three days before a loan is due.
""",
    "docs/desk.md": """\
# At the desk

**A card is lost.** Block it at once. The loans stay on the reader's account. A new card costs 3.00.

**A reader wants to renew.** Renew the loan, unless somebody has a hold on the item or it was renewed twice before.

**A lending period is wrong.** Only the branch manager changes lending periods.
""",
    "lantern/loans.py": '''\
"""Loans: how long an item is lent, and how often a loan can be renewed."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

from lantern import holds

PERIODS = {"book": 28, "audiobook": 14, "film": 14}
"""The lending period by kind of item, in days."""
MOST_RENEWALS = 2


@dataclass(frozen=True)
class Loan:
    """An item that a reader has."""

    item: str
    kind: str
    reader: str
    due: date
    renewals: int = 0


def due_on(kind: str, day: date) -> date:
    """When an item is due that is lent on this day."""
    return day + timedelta(days=PERIODS[kind])


def lend(item: str, kind: str, reader: str, day: date) -> Loan:
    """Begin a loan."""
    return Loan(item, kind, reader, due_on(kind, day))


def may_renew(loan: Loan, day: date) -> bool:
    """Whether a loan can be renewed: in time, not too often, and only if nobody waits for the item."""
    return day <= loan.due and loan.renewals < MOST_RENEWALS and not holds.waiting(loan.item)


def renew(loan: Loan, day: date) -> Loan:
    """Renew a loan; the new period counts from this day."""
    if not may_renew(loan, day):
        raise ValueError(f"the loan of {loan.item} cannot be renewed")
    return replace(loan, due=due_on(loan.kind, day), renewals=loan.renewals + 1)
''',
    "lantern/holds.py": '''\
"""Holds: who gets an item next."""

from collections import defaultdict, deque

KEPT_DAYS = 5
_queues: dict[str, deque[str]] = defaultdict(deque)


def hold(item: str, reader: str) -> None:
    """Put a reader at the end of the queue for an item."""
    _queues[item].append(reader)


def waiting(item: str) -> bool:
    """Whether anybody waits for the item."""
    return bool(_queues[item])


def on_return(item: str) -> str | None:
    """The item is back, in time or late: the reader who gets it next."""
    return _queues[item].popleft() if _queues[item] else None
''',
    "lantern/reminders.py": '''\
"""Reminders: each night, a message for each loan that is due in three days."""

from datetime import date, timedelta

from lantern.loans import Loan
from lantern.mail import send_mail

BEFORE = timedelta(days=3)


def reminders_due(loans: list[Loan], day: date) -> dict[str, list[Loan]]:
    """The loans to remind of, by reader."""
    found: dict[str, list[Loan]] = {}
    for loan in loans:
        if loan.due - BEFORE == day:
            found.setdefault(loan.reader, []).append(loan)
    return found


def send_reminders(loans: list[Loan], day: date, reminded: set[str]) -> None:
    """Remind all readers who were not reminded yet."""
    for reader, due in reminders_due(loans, day).items():
        if reader in reminded:
            continue
        for loan in due:
            send_mail(reader, f"{loan.item} is due on {loan.due}.")
        reminded.add(reader)  # only after all messages have gone out
''',
    "lantern/mail.py": '''\
"""Mail to readers."""

ATTEMPTS = 3


def send_mail(reader: str, text: str, *, message_id: str | None = None) -> None:
    """Send a message; one with a message id is delivered once, however often it is sent."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _deliver(reader, text, message_id)
        except ConnectionError:
            if attempt == ATTEMPTS:
                raise
        else:
            return


def _deliver(reader: str, text: str, message_id: str | None) -> None:
    print(f"to {reader}: {text} ({message_id})")
''',
}

CAREFUL: Final = """\
tree: careful
description: The model may write notes. A person approves each one.
root:
  finally:
    child:
      sequence:
        - classify_query
        - force_success: { offer_tools: [vault_write] }
        - compose_prompt
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn
                - if:
                    when: tool_calls > 0
                    then: { run_tools: { approve: [vault_write], expires: 2d } }
                    else: { stop: completed }
    then: { sequence: [explain_stop, finish] }
"""
ASKING: Final = """\
tree: asking
description: Asks the user which release is meant before the model answers.
blackboard:
  release: { type: str, default: "" }
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - ask_user: { question: "Which release?", options: ["2.0", "2.1"], default: "2.1", expires: 1h, into: release }
        - note: "The user means the release {release}."
        - loop:
            until: termination_reason
            guards: [cancelled, turn_budget, token_budget, deadline]
            child:
              sequence:
                - llm_turn
                - if: { when: tool_calls > 0, then: run_tools, else: { stop: completed } }
    then: { sequence: [explain_stop, finish] }
"""
SECOND_TREE: Final = f"""\
tree: second_model
description: Where the provider of the first model is down, a second model answers.
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - selector:
            - llm_turn: {{ name: first_model, timeout_s: 60, tools: false }}
            - sequence:
                - condition: model_fault != "refused"
                - llm_turn: {{ name: second_model, model: {SECOND_MODEL}, tools: false }}
        - stop: completed
    then: {{ sequence: [explain_stop, finish] }}
"""


def _long() -> str:
    tree = Path(__file__).parents[4] / "examples" / "long_conversations" / "oracle.yaml"
    text = tree.read_text(encoding="utf-8").replace("tree: oracle\n", "tree: long\n")
    return text.replace("above: 60%", "above: 1000")


FILES: Final = {f"project/{name}": text for name, text in _PROJECT.items()} | {
    f"data/trees/{name}.yaml": text
    for name, text in (("careful", CAREFUL), ("asking", ASKING), ("second_model", SECOND_TREE), ("long", _long()))
}
"""All files, by their paths below the demo's folder."""
