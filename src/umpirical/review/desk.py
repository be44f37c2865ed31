"""The desk: gives items to people, records their decisions, and settles disputes.

A decision is durable when the method returns. Any number of programs may have a desk on the same database.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING

from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode, ReviewOutcome
from umpirical.review.database import Database, assignments, events
from umpirical.review.database.assignments import (
    all_decisions,
    append_decision,
    append_undo,
    decided_items,
    newest_item,
    own_decisions,
    recent_milliseconds,
)
from umpirical.review.database.events import bump, value_of
from umpirical.review.database.items import (
    StoredItem,
    add_items,
    all_items,
    all_revisions,
    batches,
    items_given,
    revision_with,
    serial_of,
    stored_item,
)
from umpirical.review.database.restoration import restore
from umpirical.review.records import (
    Additions,
    NotAssigned,
    Refused,
    ReviewChoice,
    ReviewProgress,
    Revision,
    Settings,
    adjudication,
    checked,
    new_text,
    outcomes_of,
    repeats,
    state_of,
    utc_now,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class ItemView:
    """What one person may see of an item now. What is hidden from them is not in it."""

    item: ReviewItem
    """Without target and opinions for a blind reviewer who has not decided."""
    revisions: tuple[Revision, ...]
    """In order. A blind reviewer who has not decided sees only the generator's text and their own."""
    own: ReviewDecision | None
    """Their newest decision on it that is not undone."""
    others: tuple[ReviewDecision, ...]
    """What each of the others says now; empty for a blind reviewer who has not decided."""


def view_for(person: str, found: StoredItem, *, mode: ReviewMode) -> ItemView:
    """The item as a reviewer may see it now."""
    if not _hides(person, found, mode=mode):
        return full_view(person, found)
    own = found.own(person)
    # A text that somebody else wrote reveals what they decided; one that this person wrote too is their own.
    made = {said.revision for said in found.decisions if said.reviewer == person}
    return ItemView(
        item=replace(found.item, target="", opinions=()),
        revisions=tuple(revision for revision in found.revisions if revision.number in made | {0}),
        own=own[-1] if own else None,
        others=(),
    )


def full_view(person: str, found: StoredItem) -> ItemView:
    """The item as an adjudicator sees it, or a reviewer who has decided."""
    standing = [said for said in found.decisions if not said.undone]
    own = [said for said in standing if said.reviewer == person]
    # Only the newest decision of each person counts, so only that one is shown.
    newest = {(said.reviewer, said.adjudicates): said.number for said in standing}
    others = tuple(
        said for said in standing if said.reviewer != person and newest[said.reviewer, said.adjudicates] == said.number
    )
    return ItemView(found.item, found.revisions, own[-1] if own else None, others)


def _hides(person: str, found: StoredItem, *, mode: ReviewMode) -> bool:
    """Whether a blind reviewer has yet to commit; a skip does not commit them."""
    own = found.own(person)
    return mode == "blind" and not (own and own[-1].kind != "skip")


# The desk: gives items to people, and records their decisions.


MOST_DECISIONS = 200
"""How often one person can decide on one item, each time with another text: whoever opens it loads them all."""


PACE_OF, PACE_KNOWN = 20, 3
"""How many of a person's newest decisions tell their pace, and the fewest that do."""


@dataclass(frozen=True, slots=True)
class GivenItem:
    """An item that a person was given."""

    item: ReviewItem
    own: ReviewDecision | None
    """What they said; None if it is open."""


class Desk:
    """A review, as one program takes part in it."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], datetime] = utc_now) -> None:
        self.database = database
        self.settings = settings
        self._clock = clock

    def add(self, items: Iterable[ReviewItem]) -> int:
        """Adds the items whose ids are new. Returns how many there were."""
        overlap, at = self.settings.overlap, self._at()
        return sum(add_items(self.database, some, overlap=overlap, at=at) for some in batches(items))

    def at_hand(self, person: str) -> ItemView | None:
        """The item the person has open; None if they have none. Nothing is handed out."""
        with self.database.read() as connection:
            serial = assignments.open_assignment(connection, person)
            return None if serial is None else self._view(stored_item(connection, serial), person)

    def next(self, person: str, *, after: str | None = None) -> ItemView | None:
        """The item the person has open, or else the next one that lacks a reviewer, which is theirs from now on.

        After a reload or a crash it is the same item again. Nobody is given an item twice, and no item goes to more
        people than the overlap asks for; a skip makes room for someone else. With `after`, that item is left out: the
        result is what comes next while they still look at it.
        """
        with self.database.read() as connection:
            but = serial_of(connection, after) if after else None
            serial = assignments.open_assignment(connection, person, but=but)
            if serial is not None:
                return self._view(stored_item(connection, serial), person)
        with self.database.write() as connection:
            assignments.set_overlap(connection, self.settings.overlap, at=self._at())
            # Another window of the same person may have been quicker.
            serial = assignments.open_assignment(connection, person, but=but)
            if serial is None:
                serial = assignments.give(connection, person, overlap=self.settings.overlap)
            return None if serial is None else self._view(stored_item(connection, serial), person)

    def show(self, person: str, item: str) -> ItemView | None:
        """An item that this person was given or adjudicated; None for any other."""
        with self.database.read() as connection:
            serial = serial_of(connection, item)
            if serial is None:
                return None
            found = stored_item(connection, serial)
            given = assignments.assignment_of(connection, serial, person)
        if given is None:
            settled = adjudication(found.decisions)
            return full_view(person, found) if settled and settled.reviewer == person else None
        return self._view(found, person)

    def decided(self, person: str, *, limit: int = 50) -> list[str]:
        """Ids of the items the person decided on or skipped, the newest first, without undone ones."""
        with self.database.read() as connection:
            return decided_items(connection, person, limit=limit)

    def decide(self, person: str, item: str, choice: ReviewChoice) -> ReviewDecision:
        """Records the person's decision on an item they were given. It replaces any they made on it before.

        The same choice sent twice is one decision. Two people who make the same text of an item agree. A decision on
        an item that they had decided on before, undone or not, is recorded as assisted: nothing was hidden since then.
        """
        with self.database.write() as connection:
            serial = serial_of(connection, item)
            given = None if serial is None else assignments.assignment_of(connection, serial, person)
            if serial is None or given is None:
                raise NotAssigned(f"item {item} is not assigned to {person}", fix="ask for the next item")
            found = stored_item(connection, serial)
            if adjudication(found.decisions):
                raise Refused("an adjudicator has decided this item", fix="ask for the next item")
            if sum(said.reviewer == person for said in found.decisions) >= MOST_DECISIONS:
                raise Refused(f"you have reached {MOST_DECISIONS} decisions on this item", fix="ask for the next item")
            shown = self._view(found, person)
            choice = checked(choice, found.item, {revision.number: revision.text for revision in shown.revisions})
            if shown.own is not None and repeats(choice, shown.own, found.texts):
                return shown.own
            mode: ReviewMode = "assisted" if found.committed(person) else self.settings.mode
            decision = self._append(connection, found, choice, self._said(connection, person, choice, mode=mode))
            self._place(connection, serial, person, skips=choice.kind == "skip", holds=given.slot is not None)
            self._changed(connection, serial)
        return decision

    def undo(self, person: str, *, item: str | None = None) -> str | None:
        """Undoes the person's newest decision that is not undone yet, and returns its item, which is open again.

        Their earlier decisions on that item are undone with it. None if there is nothing to undo, if an adjudicator
        settled the item, or if it was a skip and others have taken every place since. With `item`, None also if the
        newest decision is about another one: the person means the one on their screen, and may have gone on elsewhere.
        """
        with self.database.write() as connection:
            serial = newest_item(connection, person)
            if serial is None:
                return None
            found = stored_item(connection, serial)
            if item and item != found.item.id:
                return None
            settled = adjudication(found.decisions)
            if settled is not None and settled.reviewer == person:
                taken_back = [settled]
            elif settled is not None or not self._reopen(connection, serial, person):
                return None
            else:
                taken_back = found.own(person)
            for said in taken_back:
                append_undo(connection, said.number, person=person, at=self._at())
            self._changed(connection, serial)
        return found.item.id

    def disputed(self, person: str, *, after: str | None = None) -> ItemView | None:
        """The next item that reviewers disagree on and this person did not review. Nothing is hidden.

        With `after`, the one that follows that item; the first follows the last.
        """
        with self.database.read() as connection:
            behind = serial_of(connection, after) if after else None
            serial = assignments.disputed_item(connection, person, behind=behind or 0)
            return None if serial is None else full_view(person, stored_item(connection, serial))

    def adjudicate(self, person: str, item: str, choice: ReviewChoice) -> ReviewDecision:
        """Settles an item that reviewers disagree on. It overrides their decisions; only its author can undo it.

        It is recorded as assisted: an adjudicator has seen what the others decided.
        """
        with self.database.write() as connection:
            serial = serial_of(connection, item)
            if serial is None:
                raise NotAssigned(f"unknown item {item}", fix="ask for the next disputed item")
            found = stored_item(connection, serial)
            # Someone who only skipped it did not review it.
            if any(said.kind != "skip" for said in found.own(person)):
                raise NotAssigned(f"{person} reviewed item {item}", fix="leave it to another adjudicator")
            choice = checked(choice, found.item, found.texts)
            settled = adjudication(found.decisions)
            if settled and settled.reviewer == person and repeats(choice, settled, found.texts):
                return settled
            self._check_disputed(found, person, choice)
            said = self._said(connection, person, choice, mode="assisted", adjudicates=True)
            decision = self._append(connection, found, choice, said)
            self._changed(connection, serial)
        return decision

    def release(self, person: str) -> int:
        """Frees the items that a person has open and will not decide on. Returns how many."""
        with self.database.write() as connection:
            return assignments.release(connection, person, at=self._at())

    def progress(self, person: str) -> ReviewProgress:
        with self.database.read() as connection:
            return assignments.progress(connection, person)

    def given(self, person: str) -> list[GivenItem]:
        """The items that a person was given, the newest first, each with what they said; nothing of others."""
        with self.database.read() as connection:
            said = own_decisions(connection, person)
            return [GivenItem(item, said.get(item.id)) for item in items_given(connection, person)]

    def seconds_left(self, person: str) -> float | None:
        """How long the items left will take at the person's own pace; None until that is known."""
        with self.database.read() as connection:
            taken = recent_milliseconds(connection, person, limit=PACE_OF)
        return None if len(taken) < PACE_KNOWN else self.progress(person).left * median(taken) / 1000

    def outcomes(self) -> Iterator[ReviewOutcome]:
        """The outcome of every item, in the order of arrival."""
        with self.database.read() as connection:
            revisions, decisions = all_revisions(connection), all_decisions(connection)
        return outcomes_of(self.items(), revisions, decisions, overlap=self.settings.overlap)

    def decisions(self) -> Iterator[ReviewDecision]:
        """Every decision, in the order they were made, undone ones included."""
        with self.database.read() as connection:
            return iter(all_decisions(connection))

    def items(self) -> Iterator[ReviewItem]:
        """Every item, in the order of arrival, with nothing hidden."""
        return (item for item, _ in all_items(self.database))

    def revisions(self) -> Iterator[Revision]:
        """Every text: first the generator's, of every item, then those that people made."""
        for item, at in all_items(self.database):
            yield Revision(0, item.id, 0, item.generator, item.after, at)
        with self.database.read() as connection:
            made = all_revisions(connection)
        yield from made

    def restore(self, additions: Additions, *, at: str | None = None) -> int:
        """Adds what was decided elsewhere, with the names and times it has, all or nothing. Returns how many are new.

        The items of decisions must be here or among the additions, and so must the texts they are about. Decisions are
        renumbered in their order. Who settles an item there must be an adjudicator here.
        """
        return restore(self.database, additions, overlap=self.settings.overlap, at=at or self._at())

    def version(self) -> int:
        """A number that grows with every new item, decision, undo or guideline."""
        with self.database.read() as connection:
            return value_of(connection, "version")

    def guidelines(self) -> list[tuple[int, str]]:
        """Version and text of every guideline that was ever in force, in order."""
        with self.database.read() as connection:
            return events.all_guidelines(connection)

    def guideline(self) -> tuple[int, str]:
        """Version and text of the guidelines in force; 0 and an empty text if there are none."""
        with self.database.read() as connection:
            return events.in_force(connection)

    def set_guideline(self, text: str) -> int:
        """Puts guidelines in force, and returns their version. A text that was in force before keeps its version."""
        with self.database.write() as connection:
            return events.put_in_force(connection, text, at=self._at())

    def _at(self) -> str:
        return self._clock().astimezone(UTC).isoformat()

    def _view(self, found: StoredItem, person: str) -> ItemView:
        return view_for(person, found, mode=self.settings.mode)

    def _said(
        self,
        connection: "Connection",
        person: str,
        choice: ReviewChoice,
        *,
        mode: ReviewMode,
        adjudicates: bool = False,
    ) -> ReviewDecision:
        """The decision that a choice leads to, before it has a number and an item."""
        return ReviewDecision(
            number=0,
            item="",
            reviewer=person,
            kind=choice.kind,
            revision=choice.revision,
            at=self._at(),
            milliseconds=choice.milliseconds,
            mode=mode,
            guideline=value_of(connection, "guideline"),
            label=choice.label,
            reason=choice.reason,
            comment=choice.comment,
            adjudicates=adjudicates,
        )

    def _append(
        self, connection: "Connection", found: StoredItem, choice: ReviewChoice, said: ReviewDecision
    ) -> ReviewDecision:
        """Adds a decision, and the text if it is an edit."""
        said = replace(said, item=found.item.id)
        if choice.kind == "edit":
            text = new_text(choice, found.texts)
            made = Revision(0, said.item, choice.revision, said.reviewer, text, said.at)
            said = replace(said, revision=revision_with(connection, found.serial, made))
        return append_decision(connection, found.serial, said)

    def _place(self, connection: "Connection", serial: int, person: str, *, skips: bool, holds: bool) -> None:
        """A skip frees the place. Whoever skipped and decides after all needs a place that is still free."""
        if skips:
            assignments.set_assignment(connection, serial, person, state="skipped", slot=None)
            return
        if not holds and not assignments.take_place(connection, serial, person, overlap=self.settings.overlap):
            raise Refused("other reviewers have taken this item", fix="ask for the next item")
        assignments.set_assignment(connection, serial, person, state="decided")

    def _reopen(self, connection: "Connection", serial: int, person: str) -> bool:
        given, overlap = assignments.assignment_of(connection, serial, person), self.settings.overlap
        if given is None:
            return False
        if given.slot is None and not assignments.take_place(connection, serial, person, overlap=overlap):
            return False
        assignments.reopen(connection, serial, person)
        return True

    def _check_disputed(self, found: StoredItem, person: str, choice: ReviewChoice) -> None:
        if choice.kind == "skip":
            raise Refused("an adjudicator must decide, not skip", fix="accept, edit or reject it")
        settled = adjudication(found.decisions)
        if settled is not None:
            if settled.reviewer != person:
                raise Refused(f"{settled.reviewer} has decided this item", fix="ask for the next disputed item")
        elif state_of(found.decisions, overlap=self.settings.overlap) != "disputed":
            raise Refused(
                "this item is not disputed, or not every reviewer has decided yet",
                fix="ask for the next disputed item",
            )

    def _changed(self, connection: "Connection", serial: int) -> None:
        assignments.refresh(connection, serial, overlap=self.settings.overlap)
        bump(connection)
