"""Estimates how precise every measure of a plan will be, before anything is asked.

It follows from the plan, all of which has to be read for it. So it is kept beside the plan, and worked out again by
another version, with other measures, or for a judge that has changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from umpirical.domain.digests import digest
from umpirical.domain.measures import Estimate
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.runs.run import Run
from umpirical.stats.precision import half_width
from umpirical.store.manifests import Damaged, read_manifest, write_manifest

PRECISION = "precision.json"
"""Where it is kept, in the folder of the plan."""

RATES = (0.1, 0.5)
"""The rate of a judge that is rarely wrong, and the rate at which an interval is widest."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise a measure will be if everything is answered."""

    measure: str
    title: str
    arm: str
    stratum: str
    unit: str
    units: int
    tasks: int
    half_widths: tuple[float, ...]
    """Half-widths of the 95 % interval, one for each of `RATES`."""


def expected_precision(tallies: Tallies, *, kind: JudgeKind, protocol: str) -> Iterator[Precision]:
    """Yields the precision of every rate; the denominators are those that the measures themselves count."""
    for spec, measure in measure_all(tallies, kind=kind, protocol=protocol):
        result = measure.result
        if spec.scale != "rate" or not isinstance(result, Estimate) or result.censoring != "none":
            continue
        tasks, each = result.clusters, result.denominator / result.clusters
        yield Precision(
            measure.name,
            spec.title,
            measure.arm,
            measure.stratum,
            result.unit,
            result.denominator,
            tasks,
            tuple(half_width(p, clusters=tasks, per_cluster=each, correlation=PLANNING_CORRELATION) for p in RATES),
        )


def kept_precision(run: Run) -> tuple[Precision, ...] | None:
    """Returns what was worked out for this plan before; None if nothing was, or for another plan, judge or version."""
    path = _path(run)
    if not path.exists():
        return None
    kept = read_manifest(path)
    if kept.get("follows_from") != _basis(run):
        return None
    try:
        return tuple(_precision(row) for row in kept["measures"])
    except (KeyError, TypeError) as error:
        raise Damaged(f"{path} cannot be read: {error}", fix="delete it: it is worked out again") from None


def keep_precision(run: Run, measures: Sequence[Precision]) -> None:
    # Who may only read does without it.
    with suppress(OSError):
        write_manifest(_path(run), {"follows_from": _basis(run), "measures": [asdict(each) for each in measures]})


def _precision(row: Mapping[str, Any]) -> Precision:
    return Precision(**{**row, "half_widths": tuple(row["half_widths"])})


def _path(run: Run) -> Path:
    return run.folder / "plan" / PRECISION


def _basis(run: Run) -> str:
    """Returns the digest of everything that the precision follows from."""
    return digest(
        "precision",
        {
            "plan": run.store.plan_digest,
            "judge": str(run.manifest.get("fingerprint", "")),
            "measures": list(MEASURES.names()),
            "umpirical": version("umpirical"),
        },
    )
