"""A review in which everything that can happen has happened."""

from tests.review.items import an_item
from umpirical.review.desk import Desk
from umpirical.review.records import ReviewChoice

LABELS = ("1", "2", "3")


def everything_happened(desk: Desk) -> None:
    """Two people and an adjudicator: accepted, edited, rejected, skipped, undone, relabelled, disputed and settled."""
    desk.set_guideline("Keep what says the same.")
    desk.add(
        [*(an_item(f"plain-{n}", target="") for n in range(4)), an_item("flip", labels=LABELS, target="3", before="")]
    )
    said = {
        "plain-0": (
            ReviewChoice("accept", milliseconds=900),
            ReviewChoice("accept", comment="fine: <b>&\u202e\x1b[2J"),
        ),
        "plain-1": (
            ReviewChoice("edit", text="Blue is the wide sea."),
            ReviewChoice("edit", text="Blue is the wide sea."),
        ),
        "plain-2": (ReviewChoice("reject", reason="unnatural"), ReviewChoice("accept")),
        "plain-3": (ReviewChoice("accept"), ReviewChoice("skip")),
        "flip": (ReviewChoice("accept", label="2"), ReviewChoice("accept", label="2")),
    }
    for person, place in (("ana", 0), ("Ben", 1)):
        while shown := desk.next(person):
            desk.decide(person, shown.item.id, said[shown.item.id][place])
    desk.set_guideline("Keep what says the same, and reads well.")
    assert desk.undo("ana") == "flip"
    desk.decide("ana", "flip", ReviewChoice("accept", label="1"))
    shown = desk.disputed("cleo")
    desk.adjudicate("cleo", shown.item.id, ReviewChoice("edit", text="The sea is blue."))
