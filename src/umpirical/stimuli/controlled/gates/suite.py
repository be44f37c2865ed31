"""All gates on one stimulus set."""

from collections.abc import Iterable, Iterator, Sequence

from umpirical.domain.errors import GateError
from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.stimuli.controlled.gates import contents, crossing, design, surface
from umpirical.stimuli.controlled.materials import Materials


def try_gates(materials: Materials, stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> Iterator[GateResult]:
    """Every gate, in the order of what they look at. `again` builds the set a second time."""
    by_id = {task.id: task for task in materials.all_tasks}
    yield contents.sound_tasks(materials)
    yield contents.checkers_agree(by_id, stimuli)
    yield contents.superset(by_id, stimuli)
    yield contents.no_leak(by_id, stimuli)
    yield surface.lengths_match(by_id, stimuli)
    yield surface.length_tells_nothing(stimuli)
    yield surface.trivial_judges(stimuli)
    yield surface.reported_judges(stimuli)
    yield surface.bag_of_words(stimuli)
    if materials.twins:
        yield crossing.crossed(by_id, stimuli)
        yield crossing.request_overlap(by_id, stimuli)
    yield design.near_duplicates(stimuli)
    yield design.controls(stimuli)
    yield design.rebuilds(stimuli, again)


def refuse_unsound(gates: Iterable[GateResult]) -> None:
    """Raises if a gate that blocks has not passed, and names it."""
    failed = [gate for gate in gates if gate.blocks and not gate.passed]
    if failed:
        lines = "\n".join(f"  gate {gate.name}: {gate.found}\n    allowed: {gate.allowed}" for gate in failed)
        fix = "correct what the gate names; umpirical check"
        raise GateError(f"the stimuli are not fit to measure with\n{lines}", fix=fix)
