"""The index: what it ranks first, and how it follows the files."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.core.search import ranking
from oracle.core.search.file_index import FileIndex, FileReading, Stamp
from oracle.core.search.query import terms_of
from oracle.core.search.ranking import Ranking, SearchDocument

LONG_AFTER_NS = 2**62


class Files:
    """Files in memory, as an index reads them; each change gives a new stamp."""

    def __init__(self, **texts: str) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.texts: dict[str, str] = {}
        self.reads: list[str] = []
        for path, text in texts.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        self.texts[path] = text
        self.stamps[path] = (len(self.stamps) + self.stamps.get(path, (0,))[0] + 1, 0, len(text), 0)

    def read(self, path: str, memo: object) -> FileReading | None:
        self.reads.append(path)
        text = self.texts[path]
        return None if text == "unreadable" else FileReading(path, [SearchDocument(part) for part in text.split("|")])

    def __iter__(self) -> Iterator[tuple[str, Stamp]]:
        return iter([(path, self.stamps[path]) for path in self.texts])


def found(index: FileIndex, question: str) -> list[str]:
    return [place.path for place, _ in index.rank(terms_of(question)).places]


def index_over(files: Files) -> FileIndex:
    index = FileIndex((), read=files.read, wall_clock_ns=lambda: LONG_AFTER_NS)
    index.update(files)
    return index


def best(ranking: Ranking, question: str) -> list[int]:
    scores, _ = ranking.rank(terms_of(question))
    return sorted(scores, key=lambda number: -scores[number])


def test_rare_words_fields_and_short_texts_count_more() -> None:
    ranking = Ranking((2.0,))
    texts = ["common " * 3, "common rare", "common rare " + "filler " * 500, "common filler"]
    numbers = [ranking.add(SearchDocument(text)) for text in texts]
    titled = ranking.add(SearchDocument("other", ("rare",)))
    assert best(ranking, "common rare")[:2] == [numbers[1], titled]
    assert set(best(ranking, "rare")) == {numbers[1], numbers[2], titled}


def test_a_field_counts_once_with_the_best_of_its_forms() -> None:
    ranking = Ranking((2.0,))
    one, other = (ranking.add(SearchDocument("", (title,))) for title in ("report", "report reported reports"))
    scores, _ = ranking.rank(terms_of("report"))
    assert scores[one] == scores[other]


@pytest.mark.parametrize("between", ["\n", " "], ids=["lines", "one line"])
def test_a_long_text_is_indexed_to_its_end(between: str) -> None:
    ranking = Ranking(())
    number = ranking.add(SearchDocument(between.join(["filler"] * 30_000 + ["zebra"])))
    assert best(ranking, "zebra") == [number]


def test_removed_documents_are_not_found_and_their_postings_are_dropped() -> None:
    ranking = Ranking(())
    words = {5: "gone", 2_950: "kept"}
    numbers = [ranking.add(SearchDocument(f"{words.get(number, 'other')} common")) for number in range(3_000)]
    for number in numbers[:2_900]:
        ranking.remove(number)
    assert set(best(ranking, "common")) == set(numbers[2_900:])
    assert best(ranking, "gone") == []
    assert best(ranking, "kept") == [numbers[2_950]]
    assert len(ranking._postings["common"]) < 1_500


def test_only_new_documents_of_a_changed_file_are_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files(log="one|two|three", note="four")
    index = index_over(files)
    added: list[str] = []
    add = Ranking.add
    monkeypatch.setattr(Ranking, "add", lambda self, document: added.append(document.body) or add(self, document))
    files.reads.clear()
    files.write("log", "zero|one|two|two|five")
    index.update(files)
    assert files.reads == ["log"]
    assert sorted(added) == ["five", "two", "zero"]
    assert found(index, "three") == []
    assert found(index, "two") == ["log", "log"]


def test_many_documents_of_the_same_text_are_indexed_in_linear_time() -> None:
    begun_s = time.process_time()
    files = Files(a="|".join(["same"] * 20_000))
    index = index_over(files)
    files.write("a", "|".join(["same"] * 19_999))
    index.update(files)
    assert len(index.rank(terms_of("same")).places) == 19_999
    assert time.process_time() - begun_s < 10  # quadratic: a minute


def test_a_deleted_or_unreadable_file_is_not_found() -> None:
    files = Files(a="word", b="word", c="unreadable")
    index = index_over(files)
    assert (found(index, "word"), index.titles()) == (["a", "b"], [("a", "a"), ("b", "b")])
    del files.texts["a"]
    files.write("b", "unreadable")
    index.update(files)
    assert (found(index, "word"), index.titles()) == ([], [])


def test_without_time_left_changed_files_are_not_read() -> None:
    files = Files(a="word")
    index = index_over(files)
    files.write("b", "word")
    assert index.update(files, has_time=lambda: False) == 1
    assert found(index, "word") == ["a"]
    assert index.update(files) == 2


def test_a_full_index_accepts_no_new_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MAX_SIZE", 1)
    files = Files(a="word", b="word")
    index = FileIndex((), read=files.read)
    assert index.update(files) == 1
    assert found(index, "word") == ["a"]


def test_an_index_that_stays_locked_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle.core.search.file_index._LOCK_TIMEOUT_S", 0)
    index = FileIndex((), read=Files().read)
    with index.locked(), pytest.raises(TimeoutError, match="the index is busy"), index.locked():
        pass


_TEXTS = st.lists(st.sampled_from(["one", "two", "twoTwo", "Two_three", "été", "缓存策略"]), max_size=4).map(" ".join)


@pytest.mark.long("builds many indexes")
@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.lists(_TEXTS, min_size=1).map("|".join)), min_size=1))
def test_after_any_changes_the_index_equals_a_new_one(versions: list[dict[str, str]]) -> None:
    files = Files()
    index = index_over(files)
    for version in versions:
        for path in files.texts.keys() - version.keys():
            del files.texts[path]
        for path, text in version.items():
            if files.texts.get(path) != text:
                files.write(path, text)
        index.update(files)
    anew = index_over(files)
    for question in ("one", "two", "two_three", "ete", "缓存"):
        ours, new = (each.rank(terms_of(question)) for each in (index, anew))
        assert sorted((place.path, round(score, 9)) for place, score in ours.places) == sorted(
            (place.path, round(score, 9)) for place, score in new.places
        )
