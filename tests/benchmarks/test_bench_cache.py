"""Changes of the tools cost less in the new form than in the old one."""

from itertools import accumulate, pairwise

from benchmarks.bench_cache import cost, measure

BESIDE = 3
"""The request of the turn beside the answer, which no later one begins with."""


async def test_what_messages_say_of_tools_never_writes_more_than_another_list_of_tools():
    old, new = [await measure(takes_changes=takes) for takes in (False, True)]
    assert len(old) == len(new) == 6
    so_far = [list(accumulate(use.creation_tokens for use in used)) for used in (new, old)]
    assert all(ours <= theirs for ours, theirs in zip(*so_far, strict=True))
    assert so_far[0][-1] < 0.6 * so_far[1][-1]
    assert cost(new) < 0.7 * cost(old)
    answer = [use for at, use in enumerate(new) if at != BESIDE]
    assert all(after.read_tokens >= before.read_tokens + before.creation_tokens for before, after in pairwise(answer))
