"""Which shard of a plan asks a question first. A plan may have many millions, so each takes 20 bytes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class _Level(NamedTuple):
    """Questions in the order of the first half of their ids."""

    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    shard: NDArray[np.int32]


class FirstAsked:
    """The questions of all shards so far, as sorted arrays, each about twice as long as the next."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []

    def add(self, trial_ids: Iterable[str], shard: int) -> dict[str, int]:
        """Adds the questions of a shard, and returns for each the first shard that has it."""
        ids = list(dict.fromkeys(trial_ids))
        if not ids:
            return {}
        halves = np.frombuffer(bytes.fromhex("".join(ids)), dtype=">u8").astype(np.uint64).reshape(-1, 2)
        first, second = halves[:, 0], halves[:, 1]
        shards = np.full(len(ids), shard, dtype=np.int32)
        for level in self._levels:
            _look_up(level, first, second, shards)
        is_new = shards == shard
        self._keep(_Level(first[is_new], second[is_new], shards[is_new]))
        return dict(zip(ids, shards.tolist(), strict=True))

    def _keep(self, new: _Level) -> None:
        """Joins levels of similar length, so that there are few of them and each question is sorted few times."""
        joined = [new]
        while self._levels and len(self._levels[-1].first) <= 2 * sum(len(level.first) for level in joined):
            joined.append(self._levels.pop())
        first, second, shard = (np.concatenate(column) for column in zip(*joined, strict=True))
        order = np.argsort(first, kind="stable")
        self._levels.append(_Level(first[order], second[order], shard[order]))


def _look_up(level: _Level, first: NDArray[np.uint64], second: NDArray[np.uint64], shards: NDArray[np.int32]) -> None:
    """Writes the shard of every id that a level has. Ids may share their first half: then the next place is tried."""
    at = np.searchsorted(level.first, first)
    left = np.arange(len(first))
    while len(left):
        left = left[at[left] < len(level.first)]
        left = left[level.first[at[left]] == first[left]]
        found = level.second[at[left]] == second[left]
        shards[left[found]] = level.shard[at[left[found]]]
        left = left[~found]
        at[left] += 1
