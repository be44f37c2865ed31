"""Checks every part of the test cases against one threshold: the worst part decides, and not the average.

A check on each part fails if one part is shown to be above the threshold, with an error that all parts share. Otherwise
it passes. That does not show each part to be sound: a part of three task families is too small for that. So a check
that passes says how large a failure it could have seen.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from umpirical.domain.measures import Estimate, Undefined
from umpirical.reports import numbers
from umpirical.reports.policy import Condition
from umpirical.reports.record import CheckRecord, GroupedMeasure, PartRecord

MOST_NAMED = 3
"""Parts that a sentence names. The record has all of them."""

Bound = Callable[[GroupedMeasure, Estimate], float]
"""Returns the lower bound of a failure rate, at the check's error."""

Found = Sequence[tuple[GroupedMeasure, Estimate]]

_WORDS = {
    "format=json": "JSON answers",
    "format=list": "answers with lists",
    "format=prose": "prose answers",
    "language=de": "German texts",
    "language=en": "English texts",
    "language=es": "Spanish texts",
}


def part_words(part: str) -> str:
    """Names a part of the test cases; the empty part is most of them.

    >>> part_words("format=json"), part_words("domain=how-to")
    ('JSON answers', 'how-to tasks')
    """
    return _WORDS.get(part) or (f"{part.partition('=')[2]} tasks" if part else "most test cases")


def check_parts(condition: Condition, measures: Sequence[GroupedMeasure], bound: Bound) -> Mapping[str, Any]:
    """Returns what a check on each part comes to: the verdict, and the other fields of its record."""
    found = [(one, one.result) for one in measures if isinstance(one.result, Estimate)]
    if not found:
        return {"verdict": "N/A", "why": "not measured in any part"}
    failing = [
        PartRecord(
            part=one.group, failed=result.numerator, pairs=result.denominator, families=result.clusters, bound=low
        )
        for one, result in found
        if (low := bound(one, result)) > condition.value
    ]
    failing = _everywhere(found, failing) or _once(failing)
    hidden = [result.excluded for one, result in found if bound(one, _with_missing(result)) > condition.value]
    hidden += [one.result.excluded for one in measures if isinstance(one.result, Undefined)]
    # A pair is in several parts.
    unanswered = 0 if failing else max((sum(excluded.values()) for excluded in hidden), default=0)
    return {
        "verdict": "FAIL" if failing else "INCONCLUSIVE" if unanswered else "PASS",
        "bound": failing[0].bound if failing else None,
        "unit": found[0][1].unit,
        "unanswered": unanswered,
        "failing": failing,
        "why": _why(condition, found, failing, unanswered, bound),
    }


def _everywhere(found: Found, failing: Sequence[PartRecord]) -> list[PartRecord]:
    """Returns one entry for all parts if the largest format, the largest language and the largest domain fail."""
    kinds: dict[str, list[tuple[GroupedMeasure, Estimate]]] = {}
    for one, result in found:
        kinds.setdefault(one.group.partition("=")[0], []).append((one, result))
    largest = {max(kind, key=lambda part: part[1].denominator)[0].group for kind in kinds.values()}
    bounds = [one.bound for one in failing if one.part in largest]
    if len(bounds) < len(kinds):
        return []
    # Every pair has one format, so these are all pairs.
    every = [result for one, result in next(iter(kinds.values()))]
    return [
        PartRecord(
            part="",
            failed=sum(result.numerator for result in every),
            pairs=sum(result.denominator for result in every),
            families=max(result.clusters for result in every),
            bound=min(bounds),
        )
    ]


def _once(failing: Iterable[PartRecord]) -> list[PartRecord]:
    """Sorts by how clearly a part fails. Of parts with the same pairs, as JSON answers and their domain, keeps one."""
    same: dict[tuple[float, int, int], PartRecord] = {}
    for one in failing:
        # Formats and languages come first.
        same.setdefault((one.failed, one.pairs, one.families), one)
    return sorted(same.values(), key=lambda one: -one.bound)


def _with_missing(estimate: Estimate) -> Estimate:
    """Returns the estimate with every left-out pair counted as a failure."""
    missing = sum(estimate.excluded.values())
    return replace(estimate, numerator=estimate.numerator + missing, denominator=estimate.denominator + missing)


def _why(condition: Condition, found: Found, failing: Sequence[PartRecord], unanswered: int, bound: Bound) -> str:
    wanted = numbers.threshold(condition.kind, condition.value, condition.measure)
    if failing:
        more = f"; {len(failing) - MOST_NAMED} more parts" if len(failing) > MOST_NAMED else ""
        return f"{'; '.join(map(failing_words, failing[:MOST_NAMED]))}{more} (must be {wanted})"
    if unanswered:
        return (
            f"a part may not be {wanted}, because {numbers.count(unanswered)} pairs without an answer count against it"
        )
    return f"none of {len(found)} parts fails (must be {wanted}); {_could_see(condition, found, bound)}"


def _could_see(condition: Condition, found: Found, bound: Bound) -> str:
    """Says how small a failure each part could have shown."""
    smallest = [_smallest(condition, one, result, bound) for one, result in found]
    seen = [share for share in smallest if share is not None]
    if not seen:
        return "no part is large enough to show a failure"
    lost = len(smallest) - len(seen)
    never = f"; {lost} {'part is' if lost == 1 else 'parts are'} too small to show any" if lost else ""
    spread = " to ".join(dict.fromkeys((numbers.rate(min(seen)), numbers.rate(max(seen)))))
    return f"depending on its size, a part fails once {spread} of its pairs do{never}"


def _smallest(condition: Condition, one: GroupedMeasure, result: Estimate, bound: Bound) -> float | None:
    """Returns the smallest share of failed pairs that fails the check in this part. None if no share does."""

    def fails(failed: int) -> bool:
        return bound(one, replace(result, numerator=failed)) > condition.value

    place = bisect_left(range(result.denominator + 1), 1, key=fails)
    return None if place > result.denominator else place / result.denominator


# Words for a decision


def failing_words(one: PartRecord) -> str:
    """Says how often a part failed: `JSON answers, 10 of 10 pairs (at least 37%)`."""
    return f"{part_words(one.part)}, {_counts(one)}"


def _counts(one: PartRecord) -> str:
    counts = f"{numbers.count(one.failed)} of {numbers.count(one.pairs)} {numbers.units('pair', one.pairs)}"
    return f"{counts} (at least {numbers.rate(one.bound)})"


def not_for_words(check: CheckRecord) -> list[str]:
    """Says which parts a judge is not for, if this check fails."""
    return [
        f"{_capital(part_words(one.part))}: {check.title.lower()} in {_counts(one)}."
        for one in check.failing[:MOST_NAMED]
    ]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def parts_named(checks: Iterable[CheckRecord]) -> list[str]:
    """Names the parts that any of these checks fails on, those that fail most clearly first."""
    failing = sorted((one for check in checks for one in check.failing), key=lambda one: -one.bound)
    names = list(dict.fromkeys(part_words(one.part) for one in failing))
    if len(names) <= MOST_NAMED:
        return names
    return [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} other parts"]
