"""A measured run as a run of MLflow: measures with the ends of their intervals, what was asked, and the report."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.study.results import FinishedRun, finished_run

EXPERIMENT = "umpirical"

AT_A_TIME = 500
"""Metrics of a request; a server takes at most 1,000."""

LONGEST = 5000
"""Characters of a tag or a parameter; a server takes at most 6,000."""

_UNNAMED = re.compile(r"[^\w.\-: /]", re.ASCII)
"""What MLflow allows in no name of a metric."""

_CENSORED = {"none": "", "left": "/at-most", "right": "/more-than"}


def export_run(folder: Path) -> str:
    """Logs a run to the server of MLFLOW_TRACKING_URI; returns where it is, in words."""
    try:
        from mlflow import MlflowClient
        from mlflow.environment_variables import MLFLOW_EXPERIMENT_NAME, MLFLOW_TRACKING_URI
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise UsageError(
            "export to MLflow requires the `mlflow` extra", fix="pip install 'umpirical[mlflow]'"
        ) from None
    server = MLFLOW_TRACKING_URI.get()
    if not server:
        raise UsageError("no MLflow server is named", fix="export MLFLOW_TRACKING_URI=http://127.0.0.1:5000")
    finished = finished_run(folder)
    try:
        client = MlflowClient(server)
        return _log(client, finished, MLFLOW_EXPERIMENT_NAME.get() or EXPERIMENT)
    except (MlflowException, OSError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(f"MLflow: {said[:300]}", fix="check MLFLOW_TRACKING_URI, and that the server runs") from None


def _log(client: Any, finished: FinishedRun, name: str) -> str:  # noqa: ANN401  # MLflow is an extra
    from mlflow.entities import Metric, Param, RunTag

    experiment = client.get_experiment_by_name(name)
    where = client.create_experiment(name) if experiment is None else experiment.experiment_id
    began = int(datetime.fromisoformat(finished.record.run.created).timestamp() * 1000)
    run: str = client.create_run(where, began, run_name=finished.folder.resolve().name).info.run_id
    status = "FAILED"
    try:
        params = [Param(key, value[:LONGEST]) for key, value in params_of(finished).items()]
        tags = [RunTag(key, value[:LONGEST]) for key, value in tags_of(finished).items()]
        client.log_batch(run, params=params, tags=tags)
        metrics = [Metric(key, value, began, 0) for key, value in metrics_of(finished).items()]
        for start in range(0, len(metrics), AT_A_TIME):
            client.log_batch(run, metrics=metrics[start : start + AT_A_TIME])
        documents = finished.documents
        client.log_artifact(run, str(documents.json))
        client.log_artifact(run, str(documents.markdown))
        if documents.html.parent == documents.json.parent:
            client.log_artifact(run, str(documents.html))
        else:
            client.log_artifacts(run, str(documents.html.parent), documents.html.parent.name)
        # What is missing was never asked: the run can be resumed.
        status = "FINISHED" if finished.record.complete else "KILLED"
    finally:
        with suppress(OSError):
            client.set_terminated(run, status)
    return f"run {run} of experiment {name}: {len(metrics):,} metrics, {len(params)} parameters"


def metrics_of(finished: FinishedRun) -> dict[str, float]:
    """Returns every measure that has a value, with its interval and its counts. An undefined one has no metric."""
    found: dict[str, float] = {}
    for measure in finished.record.measures:
        result = measure.result
        if not isinstance(result, Estimate):
            continue
        group = getattr(measure, "group", "")
        parts = filter(None, (measure.variant, measure.name, measure.stratum, group))
        key = _UNNAMED.sub("_", "/".join(parts))
        # Two names may differ only in what is not allowed.
        while f"{key}/denominator" in found:
            key += "_"
        found |= {
            f"{key}{end}": float(value) for end, value in _numbers(result) if value is not None and math.isfinite(value)
        }
    return found


def _numbers(result: Estimate) -> Iterator[tuple[str, float | None]]:
    yield _CENSORED[result.censoring], result.value
    yield "/numerator", result.numerator
    yield "/denominator", result.denominator
    if result.interval is not None:
        yield "/low", result.interval.low
        yield "/high", result.interval.high
        yield "/level", result.interval.level


def params_of(finished: FinishedRun) -> dict[str, str]:
    """Returns what was asked, and of whom."""
    judge, run = finished.record.judge, finished.record.run
    known = {
        "judge": judge.name,
        "kind": judge.kind,
        "model": judge.model,
        "fingerprint": judge.fingerprint,
        "protocol": run.protocol,
        "stimuli": run.stimuli,
        "seed": run.seed,
        "repeats": run.repeats,
        "variants": ", ".join(run.variants),
        "trials": run.trials,
        **{f"decoding.{name}": value for name, value in judge.decoding.items()},
    }
    return {name: str(value) for name, value in known.items()}


def tags_of(finished: FinishedRun) -> dict[str, str]:
    """Returns the verdict, and what tells this run from any other."""
    record, decision = finished.record, finished.decision
    undefined = sum(not isinstance(measure.result, Estimate) for measure in record.measures)
    tags = {
        "umpirical.run": record.run.id,
        "umpirical.version": record.run.umpirical_version,
        "umpirical.responses_sha256": record.run.responses_sha256,
        "umpirical.complete": str(record.complete).lower(),
        "umpirical.undefined": str(undefined),
    }
    if decision is not None:
        tags |= {"umpirical.verdict": decision.verdict, "mlflow.note.content": decision.line}
    return tags
