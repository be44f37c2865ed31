"""`umpirical export --to mlflow`: what a real server on loopback was sent is read back and compared with the record."""

import json
import os
import socket
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest

import umpirical as api
from tests.frameworks.matrix import ROOT, environment, variables
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.integrations.mlflow import metrics_of, params_of, tags_of
from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import Documents
from umpirical.registry import load_integration
from umpirical.study.results import FinishedRun, finished_run

READ = """
import json, sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
[experiment] = [each for each in client.search_experiments() if each.name == "judges"]
runs = []
for run in client.search_runs([experiment.experiment_id]):
    folder = client.download_artifacts(run.info.run_id, "", sys.argv[2])
    runs.append({"metrics": run.data.metrics, "params": run.data.params, "tags": run.data.tags, "folder": folder,
                 "status": run.info.status, "name": run.info.run_name, "start": run.info.start_time})
print(json.dumps(runs))
"""


RECORD = ROOT / "docs" / "results" / "casebook" / "strong-reader" / "datasheet.json"


@pytest.fixture
def measured():
    read = read_record(RECORD)
    return FinishedRun(RECORD.parent, read.protocol, read.record, Documents(RECORD, RECORD, RECORD))


def test_every_measure_with_a_value_is_a_metric_with_its_interval_and_counts(measured):
    found = metrics_of(measured)
    known = [one for one in measured.record.measures if isinstance(one.result, Estimate)]
    assert len(known) < len(measured.record.measures)
    assert sum(key.endswith("/denominator") for key in found) == len(known)
    for one in known:
        key = "/".join(filter(None, (one.variant, one.name, one.stratum)))
        censored = {"none": "", "left": "/at-most", "right": "/more-than"}[one.result.censoring]
        assert found[f"{key.replace('+', '_').replace('%', '_')}{censored}"] == one.result.value
    assert params_of(measured)["fingerprint"] == measured.record.judge.fingerprint
    tags = tags_of(measured)
    assert tags["umpirical.verdict"] == measured.decision.verdict
    assert int(tags["umpirical.undefined"]) == len(measured.record.measures) - len(known)


def test_names_that_mlflow_cannot_tell_apart_stay_apart(measured):
    [one, *_] = [each for each in measured.record.measures if isinstance(each.result, Estimate)]
    twice = [one.model_copy(update={"stratum": stratum}) for stratum in ("a+", "a%", "a=")]
    found = metrics_of(replace(measured, record=measured.record.model_copy(update={"measures": twice})))
    assert [key for key in found if key.endswith("/denominator")] == [
        f"{one.variant}/{one.name}/a_{end}/denominator" for end in ("", "_", "__")
    ]


def test_without_the_extra_it_says_what_to_install():
    with pytest.raises(UsageError) as refused:
        load_integration("mlflow", "exports")(RECORD.parent)
    assert refused.value.fix == "pip install 'umpirical[mlflow]'"


@pytest.mark.slow
def test_what_arrives_at_a_real_server_is_what_the_record_says(tmp_path):
    report = api.datasheet("simulated:careful", folder=tmp_path, size="screen", progress=False)
    measured = finished_run(report.folder)
    binaries = environment("mlflow") / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    settings = variables() | {"MLFLOW_TRACKING_URI": address, "MLFLOW_EXPERIMENT_NAME": "judges"}
    settings |= {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    export = [binaries / "umpirical", "export", measured.folder, "--to", "mlflow"]

    def run(*command, **given):
        return subprocess.run(
            list(map(str, command)),
            cwd=tmp_path,
            env={**settings, **given},
            capture_output=True,
            text=True,
            check=False,
        )

    unreachable = run(*export)
    assert unreachable.returncode == 2
    assert "check MLFLOW_TRACKING_URI" in unreachable.stderr
    assert "Traceback" not in unreachable.stderr
    assert "no MLflow server is named" in run(*export, MLFLOW_TRACKING_URI="").stderr
    stored = ["--backend-store-uri", f"sqlite:///{tmp_path}/runs.db", "--artifacts-destination", tmp_path / "artifacts"]
    command = [binaries / "mlflow", "server", *stored, "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(list(map(str, command)), env=settings, cwd=tmp_path, stdout=log, stderr=log)
    try:
        _wait(address, server, tmp_path / "server.log")
        done = run(*export)
        assert done.returncode == 0, done.stderr
        read = run(binaries / "python", "-c", READ, address, tmp_path)
        [arrived] = json.loads(read.stdout.strip().rpartition("\n")[2])
    finally:
        server.terminate()
        server.wait(60)
    assert arrived["metrics"] == metrics_of(measured)
    assert arrived["params"] == params_of(measured)
    assert tags_of(measured).items() <= arrived["tags"].items()
    assert (arrived["status"], arrived["name"]) == ("FINISHED", measured.folder.name)
    assert f"{len(arrived['metrics'])} metrics" in done.stdout
    for document in (measured.documents.json, measured.documents.html, measured.documents.markdown):
        assert (Path(arrived["folder"]) / document.name).read_bytes() == document.read_bytes()


def _wait(address, server, log):
    for _ in range(1200):
        assert server.poll() is None, log.read_text()
        with closing(HTTPConnection(address.removeprefix("http://"), timeout=5)) as asked, suppress(OSError):
            asked.request("GET", "/health")
            if asked.getresponse().status == 200:
                return
        time.sleep(0.1)
    pytest.fail(log.read_text())
