"""The guard of what the product costs."""

from benchmarks.guard import GUARDED, MARGIN, Guarded, exceeded
from benchmarks.weight import code_lines


def figures(*values):
    """A figure whose best is 10, which is measured as these values, one after the other."""
    left = list(values)
    return Guarded("a turn", 10.0, lambda: left.pop(0)), left


def test_a_figure_within_its_bound_is_measured_once():
    figure, left = figures(10.0 * MARGIN, 99.0)
    said = []
    assert exceeded([figure], say=said.append) == []
    assert left == [99.0]
    assert said == [f"  {'a turn':<46}  11.50   bound  11.50"]


def test_a_figure_beyond_its_bound_is_measured_again_after_the_others_before_it_counts():
    figure, left = figures(12.0, 11.0, 99.0)
    other, _ = figures(9.0)
    said = []
    assert exceeded([figure, other], say=said.append) == []
    assert left == [99.0]
    assert said[0].endswith("beyond it: measured again")
    assert [line.split()[2] for line in said] == ["12.00", "9.00", "11.00"]


def test_a_figure_that_is_always_beyond_its_bound_is_found_and_the_others_are_measured_all_the_same():
    dear, left_of_dear = figures(12.0, 11.6, 13.0, 11.6)
    cheap, left = figures(9.0)
    said = []
    assert exceeded([dear, cheap], say=said.append) == ["a turn"]
    assert left == left_of_dear == []
    assert said[-1].endswith("BEYOND ITS BOUND")


def test_code_lines_have_no_docstring_comment_or_blank_line():
    module = '"""Doc.\n\nOf two lines."""\n\n# a comment\nx = 1  # counted\n\n\n'
    source = module + 'def f():\n    """Doc."""\n    return """\n\ntext"""\n'
    assert code_lines(source) == 5


def test_the_ten_figures_are_guarded():
    names = " ".join(each.name for each in GUARDED)
    assert len(GUARDED) == 10
    lines = ("of the product", "of the kernel", "question loads")
    for word in ("a turn", "instructions of a turn", "run of one turn", "stream", "tick", "parked", "start", *lines):
        assert word in names
