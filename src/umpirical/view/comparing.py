"""Runs compared with each other: made once in the background, and kept until one of them changes."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from starlette.exceptions import HTTPException

from umpirical.protocols.datasheet.comparison import compare_runs
from umpirical.protocols.datasheet.comparison_pages import render_comparison_html
from umpirical.protocols.pairs.comparison import compare_pairs_runs, render_pairs_comparison_html
from umpirical.protocols.pairs.protocol import PAIRS
from umpirical.protocols.stress.comparison import compare_stress_runs, render_stress_comparison_html
from umpirical.protocols.stress.protocol import STRESS
from umpirical.runs.run import Run
from umpirical.view.catalogue import FoundRun, opened

MOST_PENDING = 8
"""Comparisons that wait to be made."""

KEPT = 16
"""Comparisons that stay in memory."""


class Comparisons:
    """The pages of comparisons, made one after the other in a thread of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[object, Future[str]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="comparing")

    def of(self, runs: Sequence[FoundRun]) -> Future[str]:
        key = tuple((run.key, run.signature()) for run in runs)
        with self._lock:
            if key not in self._made:
                if sum(not each.done() for each in self._made.values()) >= MOST_PENDING:
                    raise HTTPException(503, "Several comparisons are being made. Try again in a moment.")
                self._made[key] = self._thread.submit(_compared, runs)
            self._made.move_to_end(key)
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
            return self._made[key]

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)


def _compared(runs: Sequence[FoundRun]) -> str:
    found: list[Run] = [opened(run) for run in runs]
    folders = [run.folder for run in found]
    if all(run.manifest["protocol"] == STRESS.version for run in found):
        return render_stress_comparison_html(compare_stress_runs(folders))
    if all(run.manifest["protocol"] == PAIRS.version for run in found):
        return render_pairs_comparison_html(compare_pairs_runs(folders))
    return render_comparison_html(compare_runs(folders))
