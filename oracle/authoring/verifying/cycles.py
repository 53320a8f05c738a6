"""Cycles in a graph of states."""

from collections import deque
from collections.abc import Sequence


def shortest_cycle(following: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """The shortest cycle through the earliest state that is on one; `None` if there is no cycle.

    Args:
        following: the states that follow each state; states are numbered in the order in which they were found.
    """
    left = _without_ends(following)
    for state in left:
        cycle = _back_to(state, following, left)
        if cycle is not None:
            return cycle
    return None


def _without_ends(following: Sequence[Sequence[int]]) -> list[int]:
    """The states that lead to a cycle: the others are removed, those without a successor first."""
    count = [len(set(each)) for each in following]
    before: list[list[int]] = [[] for _ in following]
    for state, nexts in enumerate(following):
        for each in set(nexts):
            before[each].append(state)
    ended = [state for state, each in enumerate(count) if each == 0]
    is_left = [True] * len(following)
    while ended:
        state = ended.pop()
        is_left[state] = False
        for each in before[state]:
            count[each] -= 1
            if count[each] == 0:
                ended.append(each)
    return [state for state, each in enumerate(is_left) if each]


def _back_to(start: int, following: Sequence[Sequence[int]], left: Sequence[int]) -> tuple[int, ...] | None:
    """The shortest way from a state back to itself."""
    allowed = set(left)
    came_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for each in following[state]:
            if each == start:
                way = [state]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return tuple(reversed(way))
            if each in allowed and each not in came_from:
                came_from[each] = state
                waiting.append(each)
    return None
