"""Counting at size: the pairs of a datasheet, counted as a report counts them, beside the same SQL in bare DuckDB.

    python benchmarks/scaling/analysis.py --judgments 100000000

No pair is repeated, so that there are half as many pairs as judgments: the hardest case for whoever has to join them.
Each way runs in a process of its own, and its peak memory is that of the process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

JUDGMENTS, QUICK_JUDGMENTS = 10_000_000, 200_000

QUIET = "set enable_progress_bar = false"
CLUSTERS = 48
REPLICATES = 1000

_WRITTEN = """
copy (
  select printf('%032x', number) as trial_id, printf('%032x', number) as prompt_id,
    printf('%016x', pair) as stimulus_id, 'family-' || pair % {clusters} as cluster, family, '' as stratum,
    delta, {factors},
    'verdict' as outcome,
    case when chance < .9 then case when front then '1' else '2' end when chance < .97 then 'tie'
      else case when front then '2' else '1' end end as choice,
    null::varchar as label, null::double as value, null::double as score, null::double as confidence,
    null::varchar as why, null::varchar as reasoning,
    case when family = 'graded' then 0 end::int as winner, null::double as base,
    case when family = 'graded' then printf('%016x', pair // 2) else '' end as crossed_pair,
    case when family = 'graded' then 'abc'[1 + pair % 2] else '' end as version,
    .1 as log_length, null::double as level, 'language=English' || chr(10) || 'format=prose' as parts
  from (
    select range as number, range // 2 as pair, range % 2 = 0 as front, hash(range) % 1000 / 1000 as chance,
      case when (range // 4) % 4 = 0 then 'equal' else 'graded' end as family,
      case when (range // 4) % 4 = 0 then 0.0 else 1.0 + (range // 4) % 5 end as delta
    from range({count})
  )
) to '{file}' (format parquet, row_group_size 100000)
"""


def measure(*, quick: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        return measured(Path(folder), QUICK_JUDGMENTS if quick else JUDGMENTS)


def measured(folder: Path, judgments: int) -> dict[str, float]:
    """Counts the pairs of so many judgments in each way, and all of a datasheet's tallies; returns what that took."""
    write_judgments(folder / "judgments.parquet", judgments)
    found = {way: _in_a_process(way, folder) for way in WAYS}
    assert found["ours"]["counted"] == found["bare"]["counted"]  # noqa: S101  # else they are not to be compared
    return {
        "analysed_judgments": judgments,
        "pair_join_vs_duckdb": found["ours"]["cpu"] / found["bare"]["cpu"],
        "pair_join_cpu": found["ours"]["cpu"],
        "pair_join_peak_mb": found["ours"]["peak_mb"],
        "duckdb_peak_mb": found["bare"]["peak_mb"],
        "all_tallies_cpu": found["tallies"]["cpu"],
        "all_tallies_peak_mb": found["tallies"]["peak_mb"],
        "bootstrap_cpu": found["tallies"]["bootstrap"],
    }


def write_judgments(file: Path, count: int) -> None:
    """Writes judgments of a judge that is right in nine calls of ten."""
    import duckdb

    from umpirical.domain.trials import FACTORS

    known = {"order": "case when front then 'ab' else 'ba' end", "variant": "'baseline'", "repeat": "0::int"}
    empty = {"layout": "null::struct(labels varchar, labels_swapped boolean, options_swapped boolean, tie_place int)"}
    factors = ", ".join(f'{known.get(name) or empty.get(name, "null")} as "{name}"' for name in FACTORS)
    with duckdb.connect(config={"memory_limit": "1GB", "temp_directory": str(file.with_name("written"))}) as db:
        db.execute(QUIET)
        db.execute(_WRITTEN.format(count=count, clusters=CLUSTERS, factors=factors, file=file))


def _ours(file: Path) -> list[Any]:
    """As a report does it: within the memory limit, no trial counted twice, and a tally for each row."""
    from umpirical.domain.tallies import PairTally
    from umpirical.measures.counting.judgments import counting
    from umpirical.measures.counting.pairs import CALL
    from umpirical.protocols.datasheet.counting import PAIR_TALLIES, PAIRS

    found: list[Any] = []
    with counting(file, "compare") as judgments:
        for _ in judgments.in_parts():
            judgments.execute(CALL, *PAIRS)
            found += [tally.pairs for tally in judgments.tallies(PairTally, PAIR_TALLIES)]
    return sorted(found)


def _bare(file: Path) -> list[Any]:
    """The same SQL, in a connection that may take what memory there is."""
    import duckdb

    from umpirical.measures.counting.judgments import JUDGMENTS as VIEW
    from umpirical.measures.counting.pairs import CALL
    from umpirical.protocols.datasheet.counting import PAIR_TALLIES, PAIRS

    with duckdb.connect() as db:
        for statement in (QUIET, VIEW.format(files=f"'{file}'"), CALL, *PAIRS):
            db.execute(statement)
        found = db.execute(PAIR_TALLIES)
        place = [column[0] for column in found.description or ()].index("pairs")
        return sorted(row[place] for row in found.fetchall())


def _tallies(file: Path) -> list[Any]:
    from umpirical.protocols.datasheet.counting import tally_judgments

    return list(tally_judgments(file).pairs)


def _bootstrap(tallies: list[Any]) -> float:
    """Draws the clusters again, a thousand times, for the share of right calls; returns the CPU that took.

    It works on tallies, however many judgments they were counted from.
    """
    import numpy as np

    begun = time.process_time()
    names = sorted({tally.cluster for tally in tallies})
    right, calls = np.zeros(len(names)), np.zeros(len(names))
    for tally in tallies:
        place = names.index(tally.cluster)
        right[place] += tally.correct_calls
        calls[place] += 2 * tally.pairs
    drawn = np.random.default_rng(1).integers(len(names), size=(REPLICATES, len(names)))
    low, high = np.quantile(right[drawn].sum(axis=1) / calls[drawn].sum(axis=1), [0.025, 0.975])
    assert low <= right.sum() / calls.sum() <= high  # noqa: S101  # else something else was drawn
    return time.process_time() - begun


WAYS: dict[str, Callable[[Path], list[Any]]] = {"ours": _ours, "bare": _bare, "tallies": _tallies}


def _in_a_process(way: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, "--folder", str(folder)], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    import resource

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--judgments", type=int, default=JUDGMENTS)
    options.add_argument("--way", choices=sorted(WAYS), help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help="where the judgments are written")
    chosen = options.parse_args()
    if chosen.way is None:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            print(json.dumps(measured(Path(folder), chosen.judgments), indent=1))
        return
    counted = WAYS[chosen.way](chosen.folder / "judgments.parquet")
    used = resource.getrusage(resource.RUSAGE_SELF)
    found: dict[str, Any] = {"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
    found |= {"bootstrap": _bootstrap(counted)} if chosen.way == "tallies" else {"counted": counted}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
