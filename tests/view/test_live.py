"""A run in progress: counted, read and measured as answers arrive."""

import json
import time
from decimal import Decimal
from http.client import HTTPConnection

from umpirical.domain.bills import Bill
from umpirical.domain.judgments import Verdict
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.runs.run import open_run
from umpirical.store.journal import Journal
from umpirical.store.parquet import read_rows
from umpirical.study.spending import Spending, agreed_budget
from umpirical.view.catalogue import Catalogue, opened
from umpirical.view.table import Filters
from umpirical.view.tables import TrialTables
from umpirical.view.trial_pages import looking

from . import studies
from .serving import viewing


class Stream:
    """The events of a run."""

    def __init__(self, found):
        self.connection = HTTPConnection(found.host, timeout=60)
        self.connection.request("GET", f"{found.home}{found.run}/events", headers={"Cookie": found.cookie})
        self.answer = self.connection.getresponse()
        self.numbers = {}

    def close(self):
        self.answer.close()
        self.connection.close()

    def next(self):
        """The name of the next event; what it says is added to the numbers."""
        name = "message"
        while line := self.answer.readline().decode().rstrip("\n"):
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            if line.startswith("data: "):
                self.numbers |= json.loads(line.removeprefix("data: "))
        return name

    def until(self, holds):
        for _ in range(60):
            self.next()
            if holds(self.numbers):
                return
        raise AssertionError(self.numbers)


def test_answers_appear_as_they_come_and_the_page_is_told_when_it_is_measured(tmp_path):
    run = studies.datasheet_run(tmp_path / "parcels", answer=lambda run: studies.journalled(run, 20), measure=False)
    with viewing(tmp_path) as found:
        stream = Stream(found)
        stream.until(lambda numbers: "answered" in numbers)
        first = int(stream.numbers["answered"]) + int(stream.numbers["failed"])
        assert first == 20
        journal = Journal(run.folder / "journal.sqlite")
        journal.commit((0, 0, studies.made_up(trial_id)) for trial_id in studies.planned(run, 0)[20:90])
        stream.until(lambda numbers: numbers["done"] == "90")
        stream.until(lambda numbers: numbers["read"] == "90") if stream.numbers["read"] != "90" else None
        journal.close()
        page = found.get(found.run)
        assert 'http-equiv="refresh"' in page.text
        assert "<script" in page.text
        (run.folder / "journal.sqlite").unlink()
        studies.sealed(run)
        protocol = protocol_of_run(run.store)
        protocol.write(protocol.report(run), run.folder)
        assert any(stream.next() == "measured" for _ in range(60))
        stream.close()
        assert "<script" not in found.get(found.run).text


def test_first_estimates_say_not_yet_until_they_say_something(tmp_path):
    run = studies.datasheet_run(tmp_path / "parcels", answer=lambda run: studies.journalled(run, 12), measure=False)
    with viewing(tmp_path) as found:
        page = found.get(found.run).text
        assert 0 < page.count(">not yet<") == page.count('-value">')
        journal = Journal(run.folder / "journal.sqlite")
        journal.commit((0, 0, studies.made_up(trial_id)) for trial_id in studies.planned(run, 0))
        journal.close()
        until = time.monotonic() + 60
        while page.count(">not yet<") == page.count('-value">') and time.monotonic() < until:
            found.view.estimates._known.clear()
            page = found.get(found.run).text
        assert 0 < page.count(">not yet<") < page.count('-value">')
        assert '-interval">[' in page


def given(outcome):
    return str(outcome.value) if isinstance(outcome, Verdict) else None


def test_what_is_read_of_a_run_in_progress_is_what_the_report_reads(begun, tmp_path):
    folder = studies.copied(begun, tmp_path / "parcels")
    [study] = Catalogue(tmp_path).studies()
    tables = TrialTables()
    try:
        table = tables.of(study.runs[0])
        listed = table.table.page(table.shares.read([]), table.shares, size=500).rows
        with looking(opened(study.runs[0]), table.table) as trials:
            shown = {one.position: (one.kind, given(one.outcome), one.result) for one in trials.listed(listed)}
    finally:
        tables.close()
    run = open_run(folder)
    protocol_of_run(run.store).report(run)
    tables = TrialTables()
    try:
        measured = tables.of(study.runs[0])
        assert measured.reading is None
        results = {row.position: row.result for row in measured.table.page(Filters(), measured.shares, size=500).rows}
    finally:
        tables.close()
    read = {
        place: (row["outcome"], row["choice"], results[place])
        for place, row in enumerate(read_rows(folder / "judgments.parquet"))
        if row["outcome"] != "unasked"
    }
    assert shown == read
    assert len(shown) >= 200


def test_judgments_that_are_older_than_an_answer_are_not_shown(measured, tmp_path):
    folder = studies.copied(measured, tmp_path / "parcels")
    [study] = Catalogue(tmp_path).studies()
    tables = TrialTables()
    try:
        assert tables.of(study.runs[0]).reading is None
        Journal(folder / "journal.sqlite").close()
        assert tables.of(study.runs[0]).reading is not None
    finally:
        tables.close()


def test_a_run_without_a_plan_or_an_answer_has_a_page(tmp_path):
    studies.datasheet_run(tmp_path / "parcels", answer=lambda _: None, measure=False)
    with viewing(tmp_path) as found:
        page = found.get(found.run)
        assert page.status == 200
        assert "not planned yet" not in page.text
        assert found.get(f"{found.run}/trials").status == 200


def test_the_budget_that_was_agreed_to_is_shown(begun, tmp_path):
    folder = studies.copied(begun, tmp_path / "parcels")
    assert agreed_budget(folder) is None
    spending = Spending(folder.parents[1], {"judge stub": Bill})
    spending.cap = Decimal("2.50")
    spending.note(folder)
    assert agreed_budget(folder).cap == Decimal("2.50")
    with viewing(tmp_path) as found:
        assert "of $2.50 cap" in found.get(found.run).text
    for torn in (b"{", b'{"cap": "x", "accounts": []}', b'{"cap": "NaN", "accounts": []}', b'{"cap": "-1"}'):
        (folder / "budget.json").write_bytes(torn)
        assert agreed_budget(folder) is None
