"""Assertions about judges: measures one, holds it to a policy, and ends the test by what comes out."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn

import pytest

from umpirical.api import Report, datasheet
from umpirical.api.extras import chosen_policy
from umpirical.api.functions import kept_report
from umpirical.api.options import DatasheetKeywords
from umpirical.api.studies import datasheet_study
from umpirical.domain.digests import digest
from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.domain.measures import Estimate
from umpirical.protocols.protocol import Documents, Study
from umpirical.pytest_plugin.settings import FINDINGS, Finding, Reliability, Settings, end_test
from umpirical.reports import numbers
from umpirical.reports.gate import of_own_prompt
from umpirical.store.lock import one_at_a_time
from umpirical.text.inert import inert

USED: tuple[str, ...] = ("use", "use-with-restrictions")
"""Decisions by which a policy lets a judge be used."""


class JudgeAssertions:
    """What the fixture `umpirical` gives to a test."""

    def __init__(self, item: pytest.Item, settings: Settings) -> None:
        self._item, self._settings = item, settings

    def assert_reliable(
        self,
        judge: object,
        *,
        policy: str | Mapping[str, Any] | None = None,
        strict: bool | None = None,
        **settings: Any,  # noqa: ANN401  # those of `umpirical.datasheet`
    ) -> Report[Any]:
        """Measures a judge, and passes if the policy lets it be used; returns its report.

        `judge` is whatever `umpirical.datasheet` measures: a function, a judge object, or the name of a judge. `policy`
        is the name of a shipped one, a .yaml file, or a mapping with its keys. If `strict`,
        every check has to pass, also one that a way of use would make up for. `settings` are those of
        `umpirical.datasheet`, such as `size` or `max_cost`. What is left out is as the marker says, or else the command
        line or the ini file.

        The test fails if the policy refuses the judge. If the data do not settle it, the test is inconclusive. If the
        judge cannot be asked, or a price was not agreed to, it is an error. The answers are kept: what has been
        answered is not asked again, by whatever test or process.
        """
        __tracebackhide__ = True
        chosen: dict[str, Any] = {"policy": policy, "strict": strict, **settings}
        wanted = self._defaults() | {name: value for name, value in chosen.items() if value is not None}
        measured = self._measured_or_why_not(judge, wanted)
        if isinstance(measured, Finding):
            self._end(measured)
        held, documents = measured
        outcome = _outcome(held, strict=bool(wanted["strict"]))
        page = self._shown(documents.html)
        lines = [f"judge {held.judge}: {_headline(held)}", *_deciding(held, outcome)]
        if outcome != "reliable":
            reason = "\n  ".join([*lines, *_ways_on(wanted, outcome), f"datasheet: {page}"])
            self._end(Finding(outcome, lines[0], reason, page))
        self._note(Finding(outcome, lines[0], "", page))
        return held

    def _defaults(self) -> dict[str, Any]:
        """Returns what the session and the markers say, those of the test last."""
        said = self._settings
        found = {
            "policy": said.policy,
            "size": said.size,
            "max_cost": said.max_cost,
            "strict": said.strict,
            "trust": said.trust,
        }
        for marker in reversed(list(self._item.iter_markers("umpirical"))):
            found |= marker.kwargs
        return found

    def _measured_or_why_not(self, judge: object, wanted: Mapping[str, Any]) -> tuple[Report[Any], Documents] | Finding:
        try:
            return self._measured(judge, wanted)
        except _Unasked as unasked:
            return Finding("inconclusive", unasked.headline, str(unasked))
        except UmpiricalError as error:
            fix = f"\n  fix: {error.fix}" if error.fix else ""
            return Finding("not measured", str(error).partition("\n")[0], f"{error}{fix}")

    def _measured(self, judge: object, wanted: Mapping[str, Any]) -> tuple[Report[Any], Documents]:
        terms = {name: value for name, value in wanted.items() if name != "strict"}
        terms["max_cost"] = _lowest(terms["max_cost"], self._settings.ceiling)
        terms = {"folder": self._settings.folder, "progress": False, **terms}
        policy = terms["policy"] = _policy(wanted["policy"], self._settings.root)
        if policy:
            # Nobody pays for answers that cannot be held to anything.
            chosen_policy(policy, self._settings.root, outside=True)
        _ignored_by_git(Path(terms["folder"]))
        options = DatasheetKeywords(**terms)
        study = datasheet_study([judge], options)
        [name] = [each.name for each in study.spec.judges]
        # Whoever comes second finds the answers: two processes that ask the same questions would pay twice.
        with one_at_a_time(Path(terms["folder"]) / "asking" / name):
            measured = _kept(study) if self._settings.no_ask else datasheet(judge, **terms)
            held = measured.hold(policy) if policy else measured
            return held, held.save(self._place(held))

    def _place(self, held: Report[Any]) -> Path:
        """Returns where the datasheet goes: a folder for each test, whose name no other test has."""
        test = re.sub(r"[^\w.-]+", "-", self._item.nodeid).strip("-")[-80:]
        decided = held.record.decision
        name = re.sub(r"[^\w.-]+", "-", f"{held.judge}-{decided.policy_name if decided else ''}")
        return self._settings.report / f"{test}-{digest('test', self._item.nodeid)[:6]}" / name

    def _end(self, finding: Finding) -> NoReturn:
        __tracebackhide__ = True
        self._note(finding)
        end_test(self._item, finding.outcome, inert(finding.reason), inconclusive=self._settings.inconclusive)

    def _note(self, finding: Finding) -> None:
        said = {name: inert(text) for name, text in finding._asdict().items()}
        self._item.stash.setdefault(FINDINGS, []).append(said)
        # Also in the file that --junit-xml writes.
        self._item.user_properties.append(("umpirical", f"{said['outcome']}: {said['headline']}"))
        if finding.datasheet:
            self._item.user_properties.append(("umpirical_datasheet", said["datasheet"]))

    def _shown(self, path: Path) -> str:
        root = self._settings.root
        return str(path.relative_to(root) if path.is_relative_to(root) else path)


class _Unasked(Exception):
    """Questions are open, and nothing may be asked."""

    def __init__(self, headline: str, fix: str) -> None:
        super().__init__(f"{headline}\n  fix: {fix}")
        self.headline = headline


def _kept(study: Study[Any]) -> Report[Any]:
    """Measures what has been answered, and sends nothing. Raises _Unasked if there is nothing yet."""
    report = kept_report(study)
    if report is None:
        [judge] = study.spec.judges
        raise _Unasked(f"judge {judge.name} has no stored answers", "run the test without --umpirical-no-ask")
    return report


def _lowest(cost: object, ceiling: str | None) -> object:
    """Returns the budget of a judge: what its test says, and no more than the command line allows."""
    if cost is None or ceiling is None:
        return cost if ceiling is None else ceiling
    try:
        return min(Decimal(str(cost)), Decimal(ceiling))
    except InvalidOperation:
        raise UsageError(
            f"invalid budget {cost!r} or maximum {ceiling!r}", fix="give US dollars, for example 5"
        ) from None


def _policy(policy: str | Mapping[str, Any] | None, root: Path) -> str | Mapping[str, Any]:
    """Returns a policy; a file is looked up in the root directory, wherever pytest was called."""
    if isinstance(policy, str) and policy.endswith((".yaml", ".yml")):
        return str(root / policy)
    return policy or ""


def _ignored_by_git(folder: Path) -> None:
    """Keeps answers out of the repository, as pytest does with its cache."""
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _outcome(held: Report[Any], *, strict: bool) -> Reliability:
    verdict = held.decision or "not-enough-data"
    if verdict == "use-with-restrictions" and strict:
        missed = any(check.verdict == "FAIL" for check in of_own_prompt(held.record.checks))
        return "not reliable" if missed else "inconclusive"
    if verdict in USED:
        return "reliable"
    return "not reliable" if verdict == "do-not-use" else "inconclusive"


def _headline(held: Report[Any]) -> str:
    decided = held.record.decision
    if decided is None:
        return "no decision"
    title = decided.title
    return f"{title[:1].lower()}{title[1:]} (policy {decided.policy_name})"


def _deciding(held: Report[Any], outcome: Reliability) -> Iterator[str]:
    """Yields the checks that decide, each with its figure and interval; what fails first."""
    states = {"not reliable": ("broken",), "inconclusive": ("open",)}.get(outcome, ())
    checks = [check for check in of_own_prompt(held.record.checks) if check.essential and check.state in states]
    if not checks and outcome != "reliable":
        checks = [check for check in of_own_prompt(held.record.checks) if check.verdict != "PASS"]
    figures = {(measure.variant, measure.name, measure.stratum): measure for measure in held.measures}
    for check in sorted(checks, key=lambda check: check.verdict != "FAIL"):
        measure = figures.get((check.variant, check.measure, check.stratum))
        where = f" at {numbers.part(check.stratum)}" if check.stratum else ""
        seen = check.why
        if measure is not None and isinstance(found := measure.result, Estimate):
            value, interval = numbers.measured_value(measure, found), numbers.measured_interval(measure, found.interval)
            counts = numbers.measured_counts(measure, found)
            seen = f"{value} {interval} ({counts}), threshold: {numbers.threshold(check.kind, check.value)}"
            if check.needed is not None and check.unit is not None:
                needed = f"{numbers.about(check.needed)} {numbers.units(check.unit, check.needed)}"
                seen = f"{seen}; about {needed} would be enough"
        yield f"{check.verdict} {check.title or check.measure}{where}: {seen}"
    if not held.record.complete:
        yield "the run is incomplete"


def _ways_on(wanted: Mapping[str, Any], outcome: Reliability) -> Iterator[str]:
    if outcome == "inconclusive" and (limits := [name for name in ("size", "max_calls") if wanted.get(name)]):
        yield f"collect more data: leave out {' and '.join(limits)}, and it asks until the verdict is reached"
