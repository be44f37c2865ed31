"""A reviewer in a process of its own: decides on every item it is given, and prints each recorded decision."""

import sys

from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import ReviewChoice, Settings


def work(url: str, name: str, overlap: int) -> None:
    desk = Desk(open_database(url), Settings(overlap))
    while (shown := desk.next(name)) is not None:
        decision = desk.decide(name, shown.item.id, ReviewChoice("accept", comment=f"by {name}"))
        sys.stdout.write(f"{decision.number} {shown.item.id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2], int(sys.argv[3]))
