"""The rows of one system as arrays, and what makes them fit or unfit for a correction."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from umpirical.datasets.verdicts.targets import JudgedRow
from umpirical.stats.clusters import cluster_wilson
from umpirical.stats.misclassification import Counted

Floats = NDArray[np.float64]

LARGEST_MISSING = 0.10
"""Share of rows without a verdict above which nothing is corrected: too much depends on what they would have said."""


@dataclass(frozen=True)
class Scores:
    """Some rows with a verdict."""

    judged: Floats
    labels: Floats
    """As many, or none."""
    clusters: NDArray[np.str_] | None
    """None if each row stands for itself."""

    def __len__(self) -> int:
        return len(self.judged)

    def share(self, hits: NDArray[np.bool_]) -> Counted:
        """Returns a share of these rows on its effective number of units, which is never more than there are."""
        units = float(len(hits))
        if self.clusters is None or not 0 < hits.sum() < len(hits):
            return Counted(float(hits.sum()), units)
        numbers = np.unique(self.clusters, return_inverse=True)[1]
        if numbers.max() == 0:
            return Counted(float(hits.mean()), 1.0)
        rate = cluster_wilson(np.bincount(numbers, hits), np.bincount(numbers))
        effective = units / max(1.0, rate.design_effect or 1.0)
        return Counted(float(hits.mean()) * effective, effective)

    def among(self, mask: NDArray[np.bool_]) -> "Scores":
        labels = self.labels[mask] if len(self.labels) else self.labels
        return Scores(self.judged[mask], labels, None if self.clusters is None else self.clusters[mask])


@dataclass(frozen=True)
class Sample:
    """Everything there is about one system."""

    rows: Sequence[JudgedRow]
    clustered: bool

    @cached_property
    def labelled(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None and row.label is not None])

    @cached_property
    def others(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None and row.label is None])

    @cached_property
    def answered(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None])

    @property
    def without(self) -> dict[str, int]:
        """Rows without a verdict, by reason."""
        return dict(sorted(Counter(row.why_not for row in self.rows if row.score is None).items()))

    @property
    def missing(self) -> float:
        """Share of rows without a verdict."""
        return sum(self.without.values()) / len(self.rows)

    def _scores(self, rows: Sequence[JudgedRow]) -> Scores:
        labels = [row.label for row in rows if row.label is not None]
        return Scores(
            np.array([row.score for row in rows], dtype=float),
            np.array(labels if len(labels) == len(rows) else [], dtype=float),
            np.array([row.cluster for row in rows], dtype=str) if self.clustered else None,
        )
