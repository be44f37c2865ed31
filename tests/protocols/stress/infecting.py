"""Text that tries to be more than text, in every string of a stress report."""

from tests.reports.payloads import _replaced
from umpirical.protocols.stress.record import StressReport

KEPT = {"variant", "variants"}
"""Whether a measure is of the judge's own prompt is decided by the program."""


def infected(report, payload, *, structure):
    """`report` with `payload` for every string that is not one of a fixed choice, keys of mappings included.

    Tests stay apart by a number. Without `structure` measures keep their names, so that every cell has its numbers.
    """
    tree = _replaced(report, payload, KEPT)
    names = {test.name: f"{payload}{number}" for number, test in enumerate(report.tests)}
    for new, old in zip(tree["tests"], report.tests, strict=True):
        new["name"] = names[old.name]
    for new, old in zip(tree["verdicts"], report.verdicts, strict=True):
        new["test"] = names[old.test]
        for part, before in zip(new["parts"], old.parts, strict=True):
            part["measure"] = payload if structure else before.measure
    for new, old in zip(tree["worst"], report.worst, strict=True):
        new["test"] = names[old.test]
    for new, old in zip(tree["measures"], report.measures, strict=True):
        new["stratum"] = names.get(old.stratum, "")
        new["name"] = payload if structure else old.name
        new["group"] = f"{payload}{old.group}" if old.group else ""
    return StressReport.model_validate(tree)
