"""Decisions of a gate, made by hand."""

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports.decision import EXIT_CODES, INCOMPLETE
from umpirical.reports.gate import BaselineRecord, GateDecision, HeldCheck, Ruling, decide_by_effects, ruling
from umpirical.reports.regressions import RegressionRow

VERDICTS = {"pass": "PASS", "fail": "FAIL", "open": "INCONCLUSIVE", "noted": "FAIL"}


def held(effect: str, **given) -> HeldCheck:
    known = {"measure": "dark-current", "stratum": "", "title": "Dark current", "allowed": "at most 5%"}
    known |= {"worse": "higher", "why": "10% (must be at most 5%)"}
    return HeldCheck(**{**known, "verdict": VERDICTS[effect], "effect": effect, **given})


def estimate(value: float, low: float | None, high: float | None, *, clusters: int = 40, **given) -> Estimate:
    interval = Interval(low=low, high=high, level=0.95, method="by hand")
    known = {"numerator": 100 * value, "denominator": 100, "unit": "pair", "interval": interval, "clusters": clusters}
    return Estimate(value=value, **{**known, **given})


def row(standing: str, **given) -> RegressionRow:
    found = Undefined(reason="no shared task") if standing == "not comparable" else estimate(0.2, 0.1, 0.3)
    known = {"measure": "dark-current", "stratum": "", "title": "Dark current", "scale": "rate", "worse": "higher"}
    numbers = {"before": found, "now": found, "worsening": found, "p_value": None, "adjusted_p": None}
    return RegressionRow(**{**known, **numbers, "standing": standing, **given})


def decision(*effects: str, rows: tuple[str, ...] = (), unfinished: str = "", **given) -> GateDecision:
    checks = [held(effect) for effect in effects]
    earlier = None
    if rows:
        earlier = BaselineRecord(judge="ours", run="ours-1", margin=0.05, level=0.05, rows=[row(each) for each in rows])
    decided = decide_by_effects("ranking", checks, unfinished=unfinished)
    code = INCOMPLETE if unfinished else EXIT_CODES[decided.verdict]
    ruled = ruling(Ruling(decided.verdict, decided.line, code), earlier)
    known = {"judge": "ours", "run": "ours-2", "protocol": "datasheet", "policy": "ranking"}
    return GateDecision(**{**known, "checks": checks, "baseline": earlier, **ruled._asdict(), **given})
