"""What the model says in the runs of the gallery, turn by turn."""

from collections.abc import Sequence

from oracle.llm.protocol import Usage
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.acceptance.scripts import calls, signal_xml
from tests.support.provider import Disturbed, Reply

POLL = "Why does the run loop never poll?"
SLEEP = "Why does the run loop sleep between two ticks?"
CUT_OFF = "What happens to a turn that is cut off by its bound on tokens in the code?"
RETRY = "Where are all the places that retry?"
AUTH = "Where is auth?"
NOTES = "Read the notes about the release in the vault"
OVERLOADED = "What does the adapter do when the provider is overloaded?"
MODULES = "Describe every module of the runtime, one by one."
REFUND = "How do I get my refund for a late parcel?"
LONG = "How long can a run be?"
TICKETS = "Close the tickets about late parcels."

OTHERS = (
    "How does a cancel reach the tree?",
    "Which keys may a tree author write?",
    "How is a lost connection resumed?",
    "Where is the deadline kept?",
    "List all tools and their arguments",
    "What is in a tick record?",
    "How are mistakes in a tree file reported?",
    "Which guards take a limit of the user?",
    "Summarise the release notes",
    "Who may save a tree?",
    "How is a subtree's parameter checked?",
    "What does the journal keep?",
)

POLL_ANSWER = """\
**Because nothing can happen between two wakes.** A tree changes only when something reaches it, and whatever can \
reach it wakes the loop:

1. an **outcome** of a request that a node has posted (`bt_runtime/runtime/run_loop.py:255`),
2. a **delivery** from outside, such as a cancel (`bt_runtime/runtime/run_loop.py:110`),
3. the nearest **deadline** that a node has asked for (`bt_runtime/nodes/clock.py:50`).

So the loop waits for those three at once and sleeps without a timer. Polling would only add ticks in which no node \
can do anything else than before."""


def turn(
    seconds: float, tokens: int, text: str = "", *calls: ScriptedCall, thinking: str = "", **more: object
) -> ScriptedTurn:
    """A turn that takes so long and costs so many tokens, most of them for what it reads."""
    written = min(tokens - 1, 40 + len(text) // 3 + len(thinking) // 3)
    usage = Usage(input_tokens=tokens - written, output_tokens=written)
    return ScriptedTurn(  # type: ignore[arg-type]
        text=text, thinking=thinking, tool_calls=calls, usage=usage, delay_s=seconds, piece_chars=24, **more
    )


def search(query: str, limit: int = 5) -> ScriptedCall:
    return calls("search_code", query=query, limit=limit)


def read(path: str, **lines: int) -> ScriptedCall:
    return calls("read_file", path=path, **lines)


def done(seconds: float, tokens: int, text: str, *, sources: int = 3, confidence: float = 0.91) -> ScriptedTurn:
    """A turn that answers."""
    signal = signal_xml("context_sufficient", sources_found=sources, confidence=confidence)
    return turn(seconds, tokens, text + signal)


def poll() -> Sequence[Reply]:
    """Eight turns: stuck in the fifth, another approach, near the limit of turns, and an answer."""
    stuck = signal_xml(
        "stuck",
        attempted="searched for poll, interval and busy wait",
        blocker="nothing in the project polls, and no text says why",
        confidence=0.72,
    )
    more = signal_xml("need_turn", reason="the inbox is read, its callers are not", confidence=0.86)
    return (
        turn(
            1.84,
            3_412,
            "I will read the run loop first.",
            search("run loop wake sleep"),
            calls("list_files", path="bt_runtime"),
            thinking="The question is about bt_runtime. The loop itself is likely in run_loop.py; I should see how it "
            "waits, and what may wake it.",
        ),
        turn(
            2.31,
            3_992,
            "",
            read("bt_runtime/runtime/run_loop.py", start_line=1, end_line=120),
            search("inbox wait outcome"),
            read("bt_runtime/runtime/stepper.py"),
            thinking='run_loop.py has the answer to "sleeps"; I need the inbox to see what wakes it.',
        ),
        turn(
            2.12,
            4_902,
            "The loop ticks the tree once and then waits for its inbox: an outcome, a delivery or the nearest "
            "deadline. There is no timer in between." + more,
        ),
        turn(
            1.42, 4_479, "", search("poll interval busy wait"), thinking="Is there any polling at all? Search for it."
        ),
        turn(1.63, 4_539, "I looked for a place that polls and did not find one." + stuck),
        turn(
            2.03,
            5_078,
            "",
            read("bt_runtime/nodes/clock.py"),
            calls("vault_search", query="polling decision"),
            search("def wait until deadline"),
            thinking="Another approach: the clock. How does the loop wait until a deadline?",
        ),
        turn(
            1.37,
            5_322,
            "",
            read("docs/internals/design.md", start_line=60, end_line=110),
            thinking="The reason behind it may be written down in the design.",
        ),
        done(3.46, 6_522, POLL_ANSWER),
    )


def cut_off() -> Sequence[Reply]:
    return (
        turn(1.84, 3_412, "Let me look for the bound.", search("max_tokens cut off"), search("stop_reason max_tokens")),
        turn(2.31, 3_992, "", read("trees/continue_answer.yaml"), read("docs/control.md", start_line=1, end_line=60)),
        done(
            3.46,
            6_522,
            "The tree **goes on**. The response is kept, and the subtree `continue_answer` grants another turn with a "
            "hint to go on exactly where it ended (`trees/continue_answer.yaml`).",
        ),
    )


def retry() -> Sequence[Reply]:
    return (
        turn(1.4, 2_310, "", search("retry policy")),
        turn(1.2, 2_804, "", search("backoff")),
        turn(1.9, 3_104, "", search("attempts")),
        turn(1.1, 3_571, "", search("provider error")),
        turn(1.7, 3_811, "", search("overloaded")),
    )


def auth() -> Sequence[Reply]:
    return [turn(1.3, 2_080, "Looking for it." if at == 0 else "", search("authz middleware")) for at in range(4)]


def notes() -> Sequence[Reply]:
    return [
        turn(1.2, 2_080, f"I open {name}.", calls("vault_read", path=f"{name}.md")) for name in ("a", "b", "c", "d")
    ]


def overloaded() -> Sequence[Reply]:
    return (
        turn(1.6, 3_120, "I will read the adapter first.", search("overloaded provider retry")),
        Disturbed(turn(1.2, 3_400, "The policy is kept in the adapter."), "error_event"),
    )


def cancelled() -> Sequence[Reply]:
    """As `poll`, until it is cancelled in the third turn."""
    return (*poll()[:2], turn(60.0, 4_902, "The loop ticks the tree once"))


def modules() -> Sequence[Reply]:
    names = ("nodes/blackboard", "runtime/builder", "nodes/clock", "nodes/context", "language/definition")
    names += ("language/errors", "language/explanation", "language/kind", "library/named", "nodes/base")
    names += ("replays/replaying", "drawing/palette", "public", "record/recording", "language/registry")
    names += ("runtime/run_loop", "drawing/schema", "record/status")
    stuck = signal_xml(
        "stuck", attempted="read the modules one by one", blocker="the rest does not fit", confidence=0.8
    )
    reading = [turn(1.9, 2_200, "", read(f"bt_runtime/{name}.py", start_line=1, end_line=40)) for name in names]
    return [*reading, turn(1.1, 2_400, "These were the first ones." + stuck), turn(1.1, 2_400, "No more." + stuck)]


def refund() -> Sequence[Reply]:
    """Twenty-six turns, each of which looks up one topic."""
    topics = ("parcel", "carrier", "label", "delay", "receipt", "claim", "refund", "limit", "account", "card", "policy")
    looked_up = [turn(0.92 + 0.07 * (at % 7), 1_880, "", search(f"{topics[at % 11]} {at}")) for at in range(25)]
    return [*looked_up, done(2.01, 3_110, "Ask for it within **30 days**; the parcel's number is enough.")]


def other(question: str, number: int) -> Sequence[Reply]:
    """A question of an ordinary day: one to three turns."""
    searching = [turn(0.9 + 0.3 * at, 1_900 + 400 * at, "", search(f"{question} {at}")) for at in range(number % 3)]
    return [
        *searching,
        done(
            1.4 + 0.2 * (number % 5), 2_700 + 90 * number, f"It is described in `docs/internals/design.md`. {question}"
        ),
    ]
