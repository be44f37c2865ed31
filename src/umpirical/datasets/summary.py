"""What was found in a dataset, in numbers."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """How the rows fall into the values of one column."""

    column: str
    values: Mapping[str, int]
    missing: int
    """Rows with nothing in the column; their items belong to none of its values."""


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """What a dataset was found to hold. All but the last three are counted over every row, taken or not."""

    source: str
    format: str
    rows: int
    """Rows read: all there are."""
    unlabelled: int
    """Rows without a reference label."""
    empty_responses: int
    """Rows whose response is nothing but blanks. They are kept: an empty answer is an answer."""
    duplicates: int
    """Rows with the task and the response of an earlier one. They are kept, and are not independent evidence."""
    clusters: int
    """Different values of the cluster column; 0 where there is none."""
    labels: Mapping[str, int]
    """Rows of each label in the scale's order, labels without any rows included. Empty on an interval scale."""
    strata: tuple[StratumCounts, ...]
    items: int
    """Items taken: one for each row, or the sample."""
    sampled_labels: Mapping[str, int]
    """Like `labels`, for the items that were taken."""
    sampled_unlabelled: int
    """Like `unlabelled`, for the items that were taken."""
