"""States what a comparison says, in plain sentences, and what it does not say."""

from collections.abc import Iterable, Iterator, Sequence

from umpirical.protocols.datasheet.record import Datasheet
from umpirical.reports.comparisons.record import DifferenceRecord, winner
from umpirical.reports.comparisons.words import letter
from umpirical.reports.numbers import count, part

NON_CLAIMS = (
    """\
A difference that is not shown is not a proof that there is none: only “equivalent” claims that.
In the rows of the policies' limits, judges that are all alike are told apart in one comparison in twenty, over all \
pairs of judges together (Holm).
“Equivalent” holds for each row alone: of twenty pairs that differ by just the margin, one is called equivalent.
Every other row is exploratory: a judge that is ahead there is a hint (Benjamini and Hochberg), and no finding.
Limits on conflict excess and on the spread of grades are no shares: judges are held to them one by one, and not \
against each other.
The differences are about these stimuli, these prompts and these settings. Nothing here says that a judge agrees with \
people."""
).splitlines()

CEILING = (
    "{name} is the reference: a ceiling, to see how far the others are from it. It is a judge as well, with errors of "
    "its own, and no truth: where it errs, being like it is an error too. It is never picked."
)


def find(
    sheets: Sequence[Datasheet],
    differences: Sequence[DifferenceRecord],
    everywhere: Sequence[tuple[int, int]],
    reference: int | None,
) -> Iterator[str]:
    """Yields what the differences say, and how far the judges are from the reference."""
    names = [f"{letter(place)}, {sheet.judge.name}," for place, sheet in enumerate(sheets)]
    if reference is not None:
        yield CEILING.format(name=names[reference].removesuffix(","))
        yield from _distances(names, differences, reference)
    if len(sheets) == 2:
        # Of more judges, a matrix says this at a glance, and sentences do not.
        for ahead, behind in ((0, 1), (1, 0)):
            if better := _titles(one for one in differences if winner(one) == ahead):
                yield f"{names[ahead]} is shown to be better than {letter(behind)} in {better}."
    for ahead, behind in everywhere:
        yield f"{letter(ahead)} is better than {letter(behind)} in every share that the policies limit."
    primary = [one for one in differences if one.family == "primary"]
    if primary:
        told, level = sum(winner(one) is not None for one in primary), sum(one.words == "equivalent" for one in primary)
        yield (
            f"Of {count(len(primary))} differences in limited shares, {count(told)} are shown, {count(level)} are "
            f"within the margin, and {count(len(primary) - told - level)} are undecided."
        )


def _distances(names: Sequence[str], differences: Sequence[DifferenceRecord], reference: int) -> Iterator[str]:
    for place, name in enumerate(names):
        rows = [one for one in differences if {one.first, one.second} == {place, reference} and one.family == "primary"]
        if place == reference or not rows:
            continue
        below = sum(winner(one) == reference for one in rows)
        level = sum(one.words == "equivalent" for one in rows)
        yield (
            f"{name} is shown to be below the ceiling in {count(below)} of {count(len(rows))} limited shares, and "
            f"to be equivalent to it in {count(level)}."
        )


def _titles(differences: Iterable[DifferenceRecord]) -> str:
    strata: dict[str, list[str]] = {}
    for one in differences:
        strata.setdefault(one.title[:1].lower() + one.title[1:], []).append(one.stratum)
    return ", ".join(
        f"{title} at {' '.join(map(part, parts))}" if any(parts) else title for title, parts in strata.items()
    )
