"""Training the classifiers, and what the shipped weights can do on queries that no training has seen."""

from pathlib import Path

import pytest

from benchmarks import train_classifiers
from benchmarks.bench_classify import QUERIES, RESPONSES, in_languages, questions_with_types, without
from benchmarks.train_classifiers import (
    LABELLED,
    LEAST_WEIGHT,
    TEMPERATURES,
    Fit,
    Judged,
    best_temperature,
    cross_validated,
    load_labelled,
    main,
    query_examples,
    save,
    tempered,
    train,
)
from oracle.classify import classify_query
from oracle.classify.weights import RESPONSE_WEIGHTS, load_weights, probabilities
from oracle.domains.code.weights import QUERY_WEIGHTS, SOURCE_WEIGHTS

FIT = Fit(softness=10.0, least_examples=2, rarity=0.0)
ROWS = [(frozenset({"bias", "red"}), "warm"), (frozenset({"bias", "blue"}), "cold")] * 8


def test_the_same_examples_give_the_same_weights():
    assert train(ROWS, labels=("warm", "cold"), fit=FIT) == train(ROWS, labels=("warm", "cold"), fit=FIT)


def test_weights_tell_labels_apart_and_rare_features_get_none():
    weights = train([*ROWS, (frozenset({"once"}), "warm")], labels=("warm", "cold"), fit=FIT)
    assert probabilities(weights, {"red"}, ("warm", "cold"))["warm"] > 0.8
    assert "once" not in weights


def test_cross_validation_judges_each_example_once():
    judged = cross_validated(ROWS, labels=("warm", "cold"), fit=FIT)
    assert sorted(each.at for each in judged) == list(range(len(ROWS)))
    assert all(each.is_right for each in judged)


def test_the_temperature_makes_shares_as_large_as_they_are_often_right():
    shares = {"warm": 0.95, "cold": 0.05}
    judged = [Judged(at, "warm" if at < 7 else "cold", shares) for at in range(10)]
    fitted = tempered(shares, best_temperature(judged))
    assert fitted["warm"] == pytest.approx(0.8, abs=0.03)  # the largest temperature that is tried
    assert sum(fitted.values()) == pytest.approx(1)


def test_saved_weights_are_read_again_without_the_smallest(tmp_path):
    path = tmp_path / "weights.json"
    save({"b": (0.5, -0.5), "a": (0.014, 1.0), "no": (0.01, 0.01)}, path)
    assert load_weights(path) == {"a": (0.01, 1.0), "b": (0.5, -0.5)}


def test_every_group_of_the_ablation_takes_features_away():
    rows = query_examples(load_labelled(LABELLED / "exam_queries.jsonl"))
    for name, group in QUERIES.groups.items():
        assert without(rows, group) != rows, name
    rows = RESPONSES.examples(load_labelled(LABELLED / "agent_responses_fresh_heldout.jsonl"))
    for name, group in RESPONSES.groups.items():
        assert without(rows, group) != rows, name


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Judged]]]:
    """The folder of newly trained weights, and the examples that cross-validation has judged: queries, responses."""
    folder, judged = tmp_path_factory.mktemp("weights"), []

    def kept(*given, **options):
        judged.append(cross_validated(*given, **options))
        return judged[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(train_classifiers, "cross_validated", kept)
        main(folder)
    return folder, judged


@pytest.mark.long("trains the classifiers once")
def test_the_shipped_weights_are_those_of_training_at_a_temperature(tmp_path, monkeypatch):
    """Which temperature takes five more trainings, in `make soak`."""
    least = min(TEMPERATURES)
    monkeypatch.setattr(train_classifiers, "cross_validated", lambda *_, **__: [])
    monkeypatch.setattr(train_classifiers, "best_temperature", lambda _: least)
    main(tmp_path)
    for shipped in (QUERY_WEIGHTS, RESPONSE_WEIGHTS, SOURCE_WEIGHTS):
        trained, kept = load_weights(tmp_path / shipped.name), load_weights(shipped)
        none = (0.0,) * len(next(iter(kept.values())))

        def fits(share, trained=trained, kept=kept, none=none):
            return all(
                [weight * share for weight in trained.get(name, none)]
                == pytest.approx(kept.get(name, none), abs=0.011 if name in kept else LEAST_WEIGHT + 0.011)
                for name in trained.keys() | kept.keys()
            )

        assert any(map(fits, [1.0] if shipped == SOURCE_WEIGHTS else [least / each for each in TEMPERATURES])), shipped


@pytest.mark.soak
def test_the_shipped_weights_are_what_training_writes(training):
    for shipped in (QUERY_WEIGHTS, RESPONSE_WEIGHTS, SOURCE_WEIGHTS):
        trained, kept = load_weights(training[0] / shipped.name), load_weights(shipped)
        assert trained.keys() == kept.keys()
        for name, row in kept.items():
            assert trained[name] == pytest.approx(row, abs=0.011), (
                name
            )  # a processor may round the last digit differently


def test_the_shipped_weights_are_small():
    files = (QUERY_WEIGHTS, SOURCE_WEIGHTS, RESPONSE_WEIGHTS)
    assert sum(path.stat().st_size for path in files) < 1_200_000  # read in some 30 ms, at the first query


@pytest.mark.parametrize("name", ["questions", "questions_heldout"])
def test_nearly_nine_of_ten_questions_of_other_products_get_their_type(name):
    labelled = questions_with_types(name)
    assert sum(classify_query(text).query_type == label for text, label in labelled) / len(labelled) >= 0.88


@pytest.mark.parametrize("english", [True, False], ids=["english", "other languages"])
def test_nearly_nine_of_ten_unseen_queries_get_their_type(english):
    labelled = in_languages("unseen_queries", english=english)
    assert len(labelled) > 70
    assert sum(classify_query(text).query_type == label for text, label in labelled) / len(labelled) >= 0.85


def test_what_is_kept_aside_is_in_no_set_for_training():
    trained_on = {text for name in QUERIES.sets for text, _ in load_labelled(LABELLED / f"{name}.jsonl")}
    kept = [text for name in QUERIES.kept for text, _ in load_labelled(LABELLED / f"{name}.jsonl")]
    assert len(kept) > 1_000
    assert not trained_on & set(kept)


@pytest.mark.soak
def test_a_confidence_of_nine_tenths_is_right_nine_times_in_ten(training):
    judged, _ = training[1]
    temperature = best_temperature(judged)
    sure = [each for each in judged if 0.85 <= max(tempered(each.shares, temperature).values()) < 0.95]
    assert 0.8 <= sum(each.is_right for each in sure) / len(sure) <= 0.98
