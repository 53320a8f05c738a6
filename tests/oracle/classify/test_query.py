"""Classifying queries: the specification's examples, the labelled sets, follow-ups, and hostile text."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.train_classifiers import load_labelled, query_examples, train_queries
from oracle.classify import QueryClassification, classify_query, query_shares
from oracle.classify.weights import probabilities
from oracle.domains.code.needs import second_type
from oracle.domains.code.query import sources_spoken_of
from oracle.domains.code.reading import read
from oracle.domains.code.weights import QUERY_TYPES

LABELLED = Path(__file__).parents[2] / "data" / "labelled"
PROJECT = {"code", "vault", "thread"}
WEAK = dict.fromkeys(("code", "documentation", "research", "action"), 0.05)
SETS = ("queries", "queries_fresh_dev", "queries_fresh_heldout", "queries_fresh_more")
EXAMS = ("final_queries", "exam_queries", "exam2_queries")


def share_right(name, classify):
    labelled = load_labelled(LABELLED / f"{name}.jsonl")
    return sum(classify(text) == label for text, label in labelled) / len(labelled)


@pytest.mark.parametrize(
    ("query", "query_type"),
    [
        ("What's the weather in Paris?", "research"),
        ("How does the auth middleware work?", "code"),
        ("What did we decide about caching?", "documentation"),
        ("Thanks, that helps!", "conversational"),
        ("How are mistakes in a tree file reported?", "code"),
        ("Create a note about today's meeting", "action"),
    ],
)
def test_the_examples_of_the_specification_get_their_types(query, query_type):
    assert classify_query(query).query_type == query_type


@pytest.mark.parametrize(
    ("query", "query_type"),
    [
        ("Look up the newest Redis release and put it into the upgrade note", "action"),
        ("Why does delete_note fail on Windows?", "code"),
        ("When was the note on backups deleted?", "documentation"),
        ("Write a unit test for the slug helper", "code"),
        ("Which version of Django do we pin?", "code"),
        ("What is the latest version of Django?", "research"),
        ("Why did we choose Redis?", "documentation"),
        ("Is our release process in line with what other companies do?", "research"),
        ("Thanks! Where is the logger set up?", "code"),
        ("yes, delete the note", "action"),
        ("commit and push", "action"),
        ("Delete the old config file", "action"),
        ("Rename the branch to release", "action"),
        ("Delete the unused method in Cart", "code"),
        ("How do I request access to prod?", "documentation"),
        ("get_user", "code"),
        ("auth.py", "code"),
        ("Thanks for adding the page", "conversational"),
    ],
)
def test_the_precedence_rules_hold(query, query_type):
    assert classify_query(query).query_type == query_type


@pytest.mark.parametrize("name", [*SETS, *EXAMS])
def test_nine_of_ten_queries_of_each_labelled_set_are_right(name):
    assert share_right(name, lambda text: classify_query(text).query_type) >= 0.9


def test_nine_of_ten_queries_are_right_that_training_has_not_seen():
    fresh = [row for name in SETS[1:3] for row in load_labelled(LABELLED / f"{name}.jsonl")]
    weights = train_queries(query_examples(fresh))
    rows = query_examples(load_labelled(LABELLED / "queries.jsonl"))
    right = 0
    for features, label in rows:
        shares = probabilities(weights, features, QUERY_TYPES)
        right += max(shares, key=shares.__getitem__) == label
    assert right / len(rows) >= 0.9  # 020 SC-001


@pytest.mark.parametrize("name", ["GitHub", "PostgreSQL", "node.js", "macOS", "GraphQL"])
def test_the_name_of_a_public_product_is_no_piece_of_code(name):
    assert not read(f"Is {name} any good?").text.signs


@pytest.mark.parametrize("name", ["GitHubClient", "node_id", "server.js", "userStore"])
def test_a_name_of_our_own_is_a_piece_of_code(name):
    assert read(f"Is {name} any good?").text.signs


@pytest.mark.parametrize(
    ("sign", "text"),
    [
        ("trace", "Traceback (most recent"),
        ("trace", "    at app.run (main.js)"),
        ("trace", "it is line 12"),
        ("trace", "exit status 1"),
        ("trace", "a segfault"),
        ("trace", "SIGKILL"),
        ("trace", "panicked at"),
        ("trace", "goroutine 7"),
        ("trace", "core dumped"),
        ("trace", "main.rs:12"),
        ("call", "connect(retries)"),
        ("snake", "max_retries"),
        ("snake", "__init__"),
        ("source_path", "server.py"),
        ("source_path", "src/server"),
        ("source_path", "the Dockerfile"),
        ("source_path", ".env"),
        ("flag", "--verbose"),
        ("route", "GET /health"),
        ("route", "/v1/runs"),
    ],
)
def test_each_form_of_code_has_its_sign(sign, text):
    assert sign in read(f"look\n{text}\nwhy").text.signs


def needs(text):
    return set(classify_query(text).sources)


@pytest.mark.parametrize(
    ("query", "sources"),
    [
        ("Where is the JWT check in auth/tokens.py?", PROJECT),
        ("Does the session middleware's default max age match our decision?", PROJECT),
        ("What did we decide about caching?", PROJECT),
        ("Rewrite the router to use a radix tree", PROJECT | {"web"}),
        ("Wann machen wir Releases und wer gibt sie frei?", PROJECT | {"web"}),
        ("What is our policy on dropping old Python versions?", PROJECT | {"web"}),
        ("Create a note about today's meeting", PROJECT | {"write"}),
        ("What's the weather in Paris?", {"web"}),
        ("Thanks, that helps!", set()),
    ],
)
def test_the_project_is_withheld_from_chat_and_the_outside_world_alone_and_writing_from_all_that_write_nothing(
    query, sources
):
    assert needs(query) == sources


@pytest.mark.parametrize(
    ("query", "second"),
    [
        ("Our note says GZip skips small responses. Is that what the code does?", "documentation"),
        ("Does the code agree with the decision on session lifetimes?", "documentation"),
        ("How does the auth middleware work?", None),
        ("What did we decide about caching?", None),
        ("What's the weather in Paris?", None),
    ],
)
def test_a_query_about_two_subjects_has_a_second_type_however_sure_the_first_is(query, second):
    assert classify_query(query).second_type == second


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("the notes", {"vault", "thread"}),
        ("web search", {"web"}),
        ("the source code of the scheduler", {"code"}),
        ("a shell", set()),
        ("zorple", set()),
        ("", set()),
    ],
)
def test_what_a_model_lacks_speaks_of_sources(text, sources):
    assert sources_spoken_of(text) & {"code", "vault", "thread", "web"} == sources


def test_a_tool_that_deletes_notes_is_not_looked_for_on_the_web():
    assert "web" not in sources_spoken_of("a tool that deletes notes. none of the tools deletes anything")


@pytest.mark.parametrize(
    "question", ["How do refunds work?", "What is a guard?", "Wie storniert man?", "and on live keys?", "zorple?"]
)
def test_a_question_about_an_unknown_subject_keeps_the_search_in_code_and_notes(question):
    assert needs(question) >= {"code", "vault"}
    assert "write" not in needs(question)


@pytest.mark.parametrize(
    "question",
    [
        "Write a note about the retry policy, as the code has it.",
        "Review March: what stopped the janitor, what does its code do, what is planned?",
        "Liste für jeden Frachtführer im Code das Höchstgewicht auf.",
    ],
)
def test_the_code_is_needed_where_the_question_says_so(question):
    assert "code" in needs(question)


def test_ours_against_theirs_needs_the_web_as_well():
    found = needs("Is our release process in line with what other companies do?")
    assert "web" in found
    assert found & {"code", "vault"}


@pytest.mark.parametrize(
    "question",
    [
        "What does RFC 6578 demand of a stale token, do we answer so in the code, and what is our decision about it?",
        "Which headers does RFC 5861 allow, does our cache module send them, and what did we decide about it in notes?",
        "What does PEP 3333 say about the callable, does our handler module call it and why did we decide against it?",
        "What does CVE-2024-1234 require of our parser module, and what did we decide in the meeting about it?",
    ],
)
def test_what_a_standard_or_an_advisory_demands_is_asked_of_the_web_whatever_is_asked_beside_it(question):
    found = classify_query(question)
    assert (found.needs_code, found.needs_vault, found.needs_web) == (True, True, True)
    assert not classify_query("Where do we implement RFC 6578?").needs_web


@pytest.mark.parametrize(
    "question",
    [
        "Name every place in the package that takes the storage lock for writing.",
        "Name every place in the package that closes the dependency manager, and so writes its database to the file.",
        "How does a value get from one task to another, from the action that returns it to the one that gets?",
        "What writes the cache entry for a note, and who reads it again after that?",
        "How is an action of the user turned into a task, and how does the task get its number?",
        "When does the recorder write an entry, and what does it do with the ones that could not be written?",
        "Name the functions that write to the task table.",
    ],
)
def test_a_question_that_speaks_of_writing_is_no_request_to_write(question):
    assert not classify_query(question).needs_write


@pytest.mark.parametrize(
    "request_to_write",
    [
        "How about adding a note on that?",
        "What do we know about tokens? Put it into a note.",
        "Explain how the lock works and write it into a note.",
        'Name the note "Sync tokens" and save it.',
        "list Hugo as backup",
    ],
)
def test_a_request_to_write_is_one_beside_a_question_and_in_the_words_of_one(request_to_write):
    assert classify_query(request_to_write).needs_write


def test_what_has_to_be_looked_up_for_a_note_is_needed_too():
    assert needs("Look up the newest Redis release and put it into the upgrade note") >= {"web", "vault", "write"}
    assert needs("find out where the cron job is configured and note it in the runbook") >= {"code", "vault", "write"}


def test_below_the_confidence_limit_the_second_type_is_needed_too():
    unsure = QueryClassification.of("code", confidence=0.59, second_type="research")
    assert unsure.sources == ("code", "web")
    sure = QueryClassification.of("code", confidence=0.6, second_type="research")
    assert sure.sources == ("code",)


@pytest.mark.parametrize("text", ["asdf qwer zxcv", "lkjlkj", "xqzt blorf vunk grmpf", "fjdk fjdk fjdk?"])
def test_gibberish_is_not_classified_with_confidence(text):
    assert classify_query(text).confidence < 0.6


@pytest.mark.parametrize("text", ["How does the auth middleware work?", "", "zorple", "Merci !", "折扣在哪个文件里?"])
def test_shares_add_up_to_one(text):
    shares = query_shares(text)
    assert set(shares) == set(QUERY_TYPES)
    assert sum(shares.values()) == pytest.approx(1)


def test_shares_from_elsewhere_decide_the_type_and_what_is_needed():
    shares = dict.fromkeys(QUERY_TYPES, 0.02) | {"documentation": 0.92}
    found = classify_query("Did anybody object to the new rota?", shares=shares)
    assert (found.query_type, found.confidence) == ("documentation", 0.92)
    assert found.needs_vault


def test_a_follow_up_needs_what_the_query_before_needed():
    previous = QueryClassification.of("research", confidence=0.5, second_type="code", sources=["code", "vault", "web"])
    assert {"code", "vault", "web"} <= set(classify_query("yes, please", previous=previous).sources)


@pytest.mark.parametrize(
    "follow_up", ["and the other one?", "yes, please", "why?", "sounds good, go ahead", "continue"]
)
def test_a_bare_follow_up_inherits_the_type_before_it(follow_up):
    previous = classify_query("How does the auth middleware work?")
    inherited = classify_query(follow_up, previous=previous)
    assert inherited.query_type == "code"
    assert inherited.needs_code
    assert classify_query(follow_up).query_type == "conversational"


@pytest.mark.parametrize(
    "talk", ["Thanks, that helps!", "Good morning!", "shorter, please", "who are you?", "no thanks"]
)
def test_chat_that_is_not_a_follow_up_stays_conversational(talk):
    previous = classify_query("How does the auth middleware work?")
    assert classify_query(talk, previous=previous).query_type == "conversational"


@pytest.mark.parametrize(
    "follow_up",
    [
        "and if it's going to be tried again?",
        "and the postgres one?",
        "thanks. tests for it?",
        "and for a stored query?",
        "how long does it take?",
        "also the old ones",
        "what about windows",
    ],
)
def test_a_short_follow_up_that_asks_inherits_the_type_and_the_sources_before_it(follow_up):
    previous = classify_query("Where is the retry limit of the scheduler set in our code?")
    found = classify_query(follow_up, previous=previous)
    assert found.query_type == "code"
    assert set(found.sources) >= set(previous.sources)


@pytest.mark.parametrize("follow_up", ["what do the users notice?", "are you sure?", "where did you get that?"])
def test_no_source_of_the_query_before_is_withheld_from_a_short_message_that_asks(follow_up):
    previous = classify_query("Where is the retry limit of the scheduler set in our code?")
    assert set(classify_query(follow_up, previous=previous).sources) >= set(previous.sources)


def test_a_short_question_that_is_plainly_about_another_thing_has_its_own_sources():
    previous = classify_query("Where is the retry limit of the scheduler set in our code?")
    assert classify_query("What's the weather in Paris?", previous=previous).sources == ("web",)
    previous = classify_query("What's the weather in Paris?")
    assert not classify_query("Where is parse_query() called?", previous=previous).needs_web


def test_the_web_and_writing_are_no_second_subject_on_weak_evidence():
    assert second_type("code", dict(WEAK, research=0.3, action=0.3), {"web", "write"}) is None
    assert second_type("code", dict(WEAK, research=0.6, documentation=0.11), {"web", "vault"}) == "documentation"
    assert second_type("code", dict(WEAK, research=0.6), {"web", "vault"}) == "research"


@pytest.mark.parametrize(
    "gap", ["changing source files", "git push", "editing files in the repository. the offered tools only read"]
)
def test_a_gap_that_only_writing_could_fill_is_not_looked_for_on_the_web(gap):
    assert "web" not in sources_spoken_of(gap)


def test_a_follow_up_that_names_its_subject_takes_the_subjects_type():
    previous = classify_query("What's the weather in Paris?")
    query = "And where is the scheduler's retry limit set in our code?"
    assert classify_query(query, previous=previous).query_type == "code"


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200b", "...", "\x00\x01"])
def test_text_without_words_is_conversational(text):
    assert classify_query(text).query_type == "conversational"


@pytest.mark.parametrize(
    ("plain", "disguised"),
    [
        ("What did we decide about caching?", "WHAT DID WE DECIDE ABOUT CACHING"),
        ("What's the weather in Paris?", "whats the weather in paris"),
        ("What's the weather in Paris?", "What\u2019s the weath\u200ber in Paris \u2600\ufe0f?"),
        ("Create a note about the demo", "crete a note abuot the demo"),
        ("What did we decide about caching?", "\uff37hat did we decide about caching?"),
    ],
)
def test_case_spelling_and_invisible_characters_change_nothing(plain, disguised):
    assert classify_query(disguised).query_type == classify_query(plain).query_type


def test_a_request_around_pasted_code_is_recognized():
    code = "\n".join(f"    value_{number} = compute({number})" for number in range(900))
    assert classify_query(f"Why does this raise?\n```\n{code}\n```").query_type == "code"
    assert classify_query(f"Save this snippet as a note called Values:\n```\n{code}\n```").query_type == "action"


def test_matched_keywords_are_listed_strongest_first():
    assert "weather" in classify_query("What's the weather in Paris?").keywords_matched
    assert (
        len(classify_query(" ".join(["note page thread roadmap glossary adr runbook meeting"] * 9)).keywords_matched)
        <= 8
    )


HOSTILE = [
    "a" * 20_000,
    "a_" * 10_000,
    "aA" * 10_000,
    "a." * 10_000,
    "a/" * 10_000,
    "`" * 20_000,
    '"' * 20_000,
    "(" * 20_000,
    "-" * 20_000,
    "a, " * 6_000,
    "did we " * 3_000,
    "create a note and " * 1_200,
    "thanks for " * 2_000,
    "at x (y " * 2_500,
    "\n" * 20_000,
    "\ufdfa" * 20_000,
    "\U0001f600" * 10_000,
    "\ud800" * 100,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:8]))
def test_hostile_text_is_classified_in_bounded_time(text):
    classify_query("warm up")
    started = time.process_time()
    classification = classify_query(text)
    assert time.process_time() - started < 1.0  # milliseconds in fact; a backtracking pattern would take minutes
    assert classification.query_type in QUERY_TYPES


@settings(max_examples=settings().max_examples * 3 // 2)
@given(st.text(max_size=400))
def test_any_text_has_a_classification_with_a_confidence_between_zero_and_one(text):
    classification = classify_query(text)
    assert classification.query_type in QUERY_TYPES
    assert 0.0 <= classification.confidence <= 1.0
    assert classification == classify_query(text)


def test_the_labelled_sets_do_not_share_queries():
    names = (*SETS, *EXAMS, "heldout_queries")
    texts = [text for name in names for text, _ in load_labelled(LABELLED / f"{name}.jsonl")]
    assert len(set(texts)) == len(texts)
