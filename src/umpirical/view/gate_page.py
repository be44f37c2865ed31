"""The gate of a run: its record held to a policy, and to another run on the same stimuli. Nothing is asked."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import DecidesByPolicy
from umpirical.study.gate import gate_run
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.index_page import RunLine, every_run
from umpirical.view.pages import page
from umpirical.view.requests import ViewRequest


def gate_page(request: ViewRequest) -> Response:
    """Shows what `umpirical gate` decides from the record of a run."""
    run, catalogue, asked = request.run(), request.view.catalogue, dict(request.query)
    file = record_file(catalogue, run)
    if file is None:
        raise HTTPException(409, "This run is not measured yet, so there is nothing to hold to a policy.")
    found = read_record(file)
    deciding = found.protocol if isinstance(found.protocol, DecidesByPolicy) else None
    policies, policy = deciding.policies if deciding else (), asked.get("policy", "")
    # By name among those that are shipped, and never as a file: an address is no way to have one read.
    if policy and policy not in policies:
        raise HTTPException(404, "There is no such policy.")
    others, key = _comparable_runs(catalogue, run), asked.get("baseline", "")
    before = next((line for line in others if line.run.key == key), None)
    if key and before is None:
        raise HTTPException(404, "There is no such run to compare with.")
    baseline = None if before is None else record_file(catalogue, before.run)
    return page(
        request,
        "gate.html",
        run=run,
        line=RunLine(run, catalogue.state(run)),
        gate=gate_run(file, policy=policy, baseline=baseline),
        policies=policies,
        policy=policy,
        own_policy=deciding.policy_name(found.record) if deciding else "",
        others=others,
        before=before,
        run_path=run.folder.relative_to(catalogue.root),
        before_path=None if before is None else before.run.folder.relative_to(catalogue.root),
    )


def record_file(catalogue: Catalogue, run: FoundRun) -> Path | None:
    """Returns the file with the record of a run; None while it is not measured, or if it cannot be read."""
    state = catalogue.state(run)
    return run.folder / state.document if state.document and not state.damage else None


def _comparable_runs(catalogue: Catalogue, run: FoundRun) -> list[RunLine]:
    """Returns the other measured runs of the same protocol on the same stimuli, the latest first."""
    wanted = RunLine(run, catalogue.state(run)).basis
    return [line for line in every_run(catalogue) if line.run != run and line.state.document and line.basis == wanted]
