"""What a run in progress has answered so far, read shard by shard into a table of this process's own.

The judge's parser reads every answer, as it will in the report. A shard is read again whenever it has more answers, and
nothing is written to the run's folder.
"""

import threading
import time
from pathlib import Path
from typing import Any

from umpirical.domain.trials import Trial
from umpirical.runs.judgments import Facts, judgment_row, reader_of
from umpirical.runs.run import Run
from umpirical.store.manifests import Damaged
from umpirical.store.schemas import judgment_schema
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.view.table import TrialTable


def shard_size(run: Run) -> int:
    """Returns how many trials every shard but the last has. A trial's place in the plan follows from it."""
    return run.store.planned(0) if run.shards else 1


class RunReading:
    """The answers of one run as far as they have been read."""

    def __init__(self, run: Run, folder: Path, facts: Facts) -> None:
        self.run = run
        self.facts = facts
        self.version = 0
        """Changes with every shard that is read."""
        self.read = self.answered = 0
        """Responses that are in the table, and that there were at the last look."""
        self._size = shard_size(run)
        self._seen: dict[int, tuple[object, ...]] = {}
        self._rows: dict[int, int] = {}
        self._reader = reader_of(run.judge)
        self._lock = threading.Lock()
        folder.mkdir(parents=True)
        self.table = TrialTable(folder / "spill")
        self._make(folder / "read.duckdb")

    @property
    def is_current(self) -> bool:
        """Whether everything was read that there was at the last look."""
        return self.read >= self.answered

    def refresh(self, seconds: float) -> None:
        """Reads what is new, for about so long."""
        until = time.monotonic() + seconds
        with self._lock, snapshot(self.run.store) as now:
            self.answered = sum(now.counts())
            for shard, progress in now.progress().items():
                if self._seen.get(shard) == progress:
                    continue
                self._replace(shard, self._read(shard, now))
                self._seen[shard] = progress
                if time.monotonic() > until:
                    break
            else:
                # Questions that several shards share are counted once, and are in the table with each of them.
                self.answered = self.read

    def close(self) -> None:
        self.table.close()

    def _read(self, shard: int, now: RunSnapshot) -> list[dict[str, Any]]:
        responses, rows = now.responses(shard), []
        for place, (trial, part) in enumerate(self.run.store.plan_shard(shard)):
            if place >= self._size:
                raise Damaged(f"shard {shard} of the plan has more trials than the first")
            if (response := responses.get(trial.id)) is not None:
                outcome = self._reader(response, trial.presentation)
                stimulus = self.run.stimuli.part(part)[trial.stimulus_id]
                row = judgment_row(trial, stimulus, outcome, self._scale(trial), self.facts)
                rows.append(row | {"position": shard * self._size + place})
        return rows

    def _scale(self, trial: Trial) -> Any:  # noqa: ANN401  # a scale, or none
        return trial.presentation.scale(self.run.judge.scale)

    def _replace(self, shard: int, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa

        first = shard * self._size
        with self.table.cursor() as db:
            db.begin()
            db.execute("delete from own.trial where position between ? and ?", [first, first + self._size - 1])
            if rows:
                db.register("more", pa.Table.from_pylist(rows, schema=self._schema()))
                db.execute("insert into own.trial select * from more")
                db.unregister("more")
            db.commit()
        self._rows[shard] = len(rows)
        self.read = sum(self._rows.values())
        self.version += 1

    def _make(self, file: Path) -> None:
        with self.table.cursor() as db:
            # On disk: what was read of a large run does not fit into the memory that it may take.
            db.execute(f"attach '{str(file).replace(chr(39), chr(39) * 2)}' as own")
            db.register("none", self._schema().empty_table())
            db.execute("create table own.trial as select * from none")
            db.unregister("none")
            db.execute("create view trial as select * from own.trial")

    def _schema(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        import pyarrow as pa

        return judgment_schema(self.facts.columns).append(pa.field("position", pa.int64()))
