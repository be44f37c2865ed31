"""The desk: gives items to people, and takes in what they say.

What a person says is durable when the method returns. Any number of programs may have a desk on the same database.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode, ReviewOutcome
from umpirical.review.choosing import check_edit, checked, repeats
from umpirical.review.clock import now
from umpirical.review.database import Database, guidelines, keeping, looking, places, restoring, saying
from umpirical.review.database.counting import bump, value_of
from umpirical.review.database.looking import Held
from umpirical.review.folding import adjudication, outcomes_of, state_of
from umpirical.review.records import Choice, NotAssigned, Progress, Refused, Revision, Settings, Shown
from umpirical.review.showing import everything, shown_to

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Choice", "Desk", "NotAssigned", "Progress", "Refused", "Revision", "Settings", "Shown"]


class Desk:
    """A review, as one program takes part in it."""

    def __init__(self, database: Database, settings: Settings, clock: Callable[[], datetime] = now) -> None:
        self.database = database
        self.settings = settings
        self._clock = clock

    def add(self, items: Iterable[ReviewItem]) -> int:
        """Takes in items that are not there yet, told by their id. Returns how many were new."""
        overlap, at = self.settings.overlap, self._at()
        return sum(keeping.add_items(self.database, some, overlap=overlap, at=at) for some in keeping.batches(items))

    def next(self, person: str, *, after: str | None = None) -> Shown | None:
        """What the person has before them, or else the next item that lacks a reviewer, which is theirs from now on.

        After a reload or a crash it is the same item again. Nobody is given an item twice, and no item goes to more
        people than the overlap; a skip makes room for another. With `after` it is another item than that one: what
        comes next while they still look at it.
        """
        with self.database.read() as connection:
            but = looking.serial_of(connection, after) if after else None
            serial = places.open_assignment(connection, person, but=but)
            if serial is not None:
                return self._shown(looking.held(connection, serial), person)
        with self.database.write() as connection:
            places.set_overlap(connection, self.settings.overlap, at=self._at())
            # Another window of the same person may have been quicker.
            serial = places.open_assignment(connection, person, but=but)
            if serial is None:
                serial = places.give(connection, person, overlap=self.settings.overlap)
            return None if serial is None else self._shown(looking.held(connection, serial), person)

    def show(self, person: str, item: str) -> Shown | None:
        """An item that this person was given, or has adjudicated; None for any other."""
        with self.database.read() as connection:
            serial = looking.serial_of(connection, item)
            if serial is None:
                return None
            found = looking.held(connection, serial)
            given = places.assignment_of(connection, serial, person)
        if given is None:
            settled = adjudication(found.decisions)
            return everything(person, found) if settled and settled.reviewer == person else None
        return self._shown(found, person)

    def decided(self, person: str, *, limit: int = 50) -> list[str]:
        """Ids of the items the person has decided or skipped, the newest first; undone ones left out."""
        with self.database.read() as connection:
            return looking.decided(connection, person, limit=limit)

    def decide(self, person: str, item: str, choice: Choice) -> ReviewDecision:
        """Takes in what the person says of an item they were given. Said again, it takes the place of what they said.

        The same choice sent twice is one decision. Two people who make the same text of an item agree. A decision on
        an item that they had decided before, undone or not, is recorded as assisted: nothing was hidden since.
        """
        with self.database.write() as connection:
            serial = looking.serial_of(connection, item)
            given = None if serial is None else places.assignment_of(connection, serial, person)
            if serial is None or given is None:
                raise NotAssigned(f"{person} was not given item {item}", fix="ask for the next item")
            found = looking.held(connection, serial)
            if adjudication(found.decisions):
                raise Refused("an adjudicator has settled this item", fix="ask for the next item")
            shown = self._shown(found, person)
            choice = checked(choice, found.item, {revision.number: revision.text for revision in shown.revisions})
            if shown.own is not None and repeats(choice, shown.own, found.texts):
                return shown.own
            mode: ReviewMode = "assisted" if found.committed(person) else self.settings.mode
            decision = self._append(connection, found, choice, self._said(connection, person, choice, mode=mode))
            self._place(connection, serial, person, skips=choice.kind == "skip", holds=given.slot is not None)
            self._changed(connection, serial)
        return decision

    def undo(self, person: str, *, item: str | None = None) -> str | None:
        """Takes back the newest decision of the person that is not undone, and returns its item, again open to them.

        What they had said of the item before is taken back with it. None if there is nothing to undo, if an adjudicator
        has settled the item, or if it was a skip and others have taken every place since. With `item`, None also if
        the newest decision is about another: the person means one that they see, and may have gone on elsewhere.
        """
        with self.database.write() as connection:
            serial = saying.newest_item(connection, person)
            if serial is None:
                return None
            found = looking.held(connection, serial)
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
                saying.append_undo(connection, said.number, person=person, at=self._at())
            self._changed(connection, serial)
        return found.item.id

    def disputed(self, person: str, *, after: str | None = None) -> Shown | None:
        """The next item that reviewers disagree on, of those that this person did not decide; nothing is hidden.

        With `after` the one that comes after that item, and the first again after the last.
        """
        with self.database.read() as connection:
            behind = looking.serial_of(connection, after) if after else None
            serial = looking.disputed_item(connection, person, behind=behind or 0)
            return None if serial is None else everything(person, looking.held(connection, serial))

    def adjudicate(self, person: str, item: str, choice: Choice) -> ReviewDecision:
        """Settles an item that reviewers disagree on. It stands above what they said; only its author can undo it.

        It is recorded as assisted: an adjudicator has seen what the others said.
        """
        with self.database.write() as connection:
            serial = looking.serial_of(connection, item)
            if serial is None:
                raise NotAssigned(f"there is no item {item}", fix="ask for the next disputed item")
            found = looking.held(connection, serial)
            # Who only skipped it has said nothing of it.
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
        """Gives back the items that a person has open and will not decide. Returns how many."""
        with self.database.write() as connection:
            return places.release(connection, person, at=self._at())

    def progress(self, person: str) -> Progress:
        with self.database.read() as connection:
            return looking.progress(connection, person)

    def outcomes(self) -> Iterator[ReviewOutcome]:
        """What it comes to, for every item in the order they came."""
        with self.database.read() as connection:
            revisions, decisions = keeping.all_revisions(connection), keeping.all_decisions(connection)
        return outcomes_of(self.items(), revisions, decisions, overlap=self.settings.overlap)

    def decisions(self) -> Iterator[ReviewDecision]:
        """Every decision in the order they were made, undone ones included."""
        with self.database.read() as connection:
            return iter(keeping.all_decisions(connection))

    def items(self) -> Iterator[ReviewItem]:
        """Every item in the order they came, with nothing hidden."""
        return (item for item, _ in keeping.all_items(self.database))

    def revisions(self) -> Iterator[Revision]:
        """Every text: the generator's of every item, then those that people made."""
        for item, at in keeping.all_items(self.database):
            yield Revision(0, item.id, 0, item.generator, item.after, at)
        with self.database.read() as connection:
            made = keeping.all_revisions(connection)
        yield from made

    def restore(self, revisions: Iterable[Revision], decisions: Iterable[ReviewDecision]) -> int:
        """Takes in decisions made elsewhere, under their own names and times, all or none. Returns how many are new.

        The items must be there. Decisions are numbered anew in their order; the text of every edit must be among the
        revisions.
        """
        return restoring.restore(self.database, revisions, decisions, overlap=self.settings.overlap, at=self._at())

    def version(self) -> int:
        """A number that grows whenever an item, a decision, an undo or a guideline comes in."""
        with self.database.read() as connection:
            return value_of(connection, "version")

    def guideline(self) -> tuple[int, str]:
        """Version and text of the guidelines in force; 0 and no text if there are none."""
        with self.database.read() as connection:
            return guidelines.in_force(connection)

    def set_guideline(self, text: str) -> int:
        """Puts guidelines in force, and returns their version. The same text is the same version, also later on."""
        with self.database.write() as connection:
            return guidelines.put_in_force(connection, text, at=self._at())

    def _at(self) -> str:
        return self._clock().astimezone(UTC).isoformat()

    def _shown(self, found: Held, person: str) -> Shown:
        return shown_to(person, found, mode=self.settings.mode)

    def _said(
        self, connection: "Connection", person: str, choice: Choice, *, mode: ReviewMode, adjudicates: bool = False
    ) -> ReviewDecision:
        """The decision that a choice comes to, before it has a number and an item."""
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

    def _append(self, connection: "Connection", found: Held, choice: Choice, said: ReviewDecision) -> ReviewDecision:
        """Adds a decision, and the text that an edit makes."""
        said = replace(said, item=found.item.id)
        if choice.kind == "edit":
            text = check_edit(choice, found.texts)
            made = Revision(0, said.item, choice.revision, said.reviewer, text, said.at)
            said = replace(said, revision=saying.revision_with(connection, found.serial, made))
        return saying.append_decision(connection, found.serial, said)

    def _place(self, connection: "Connection", serial: int, person: str, *, skips: bool, holds: bool) -> None:
        """A skip gives the place back. Who gave it back and decides after all needs one that is still free."""
        if skips:
            places.set_assignment(connection, serial, person, state="skipped", slot=None)
            return
        if not holds and not places.hold(connection, serial, person, overlap=self.settings.overlap):
            raise Refused("others have taken this item since you left it", fix="ask for the next item")
        places.set_assignment(connection, serial, person, state="decided")

    def _reopen(self, connection: "Connection", serial: int, person: str) -> bool:
        given, overlap = places.assignment_of(connection, serial, person), self.settings.overlap
        if given is None:
            return False
        if given.slot is None and not places.hold(connection, serial, person, overlap=overlap):
            return False
        places.reopen(connection, serial, person)
        return True

    def _check_disputed(self, found: Held, person: str, choice: Choice) -> None:
        if choice.kind == "skip":
            raise Refused("an adjudicator settles an item or leaves it", fix="accept, edit or reject it")
        settled = adjudication(found.decisions)
        if settled is not None:
            if settled.reviewer != person:
                raise Refused(f"{settled.reviewer} has settled this item", fix="ask for the next disputed item")
        elif state_of(found.decisions, overlap=self.settings.overlap) != "disputed":
            raise Refused(
                "nobody disagrees on this item, or not all have decided it", fix="ask for the next disputed item"
            )

    def _changed(self, connection: "Connection", serial: int) -> None:
        places.refresh(connection, serial, overlap=self.settings.overlap)
        bump(connection)
