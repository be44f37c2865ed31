"""Calendar: the appointments of a small office. Times are written as 14.30, so they compare as texts."""

from dataclasses import dataclass, replace

from inspect_ai.tool import ToolError

from workplaces.workplace import Case, Script, Workplace, call, result

SYSTEM = (
    "You keep the calendars of the planning office at Westerby. You may look at calendars, add events and move them. "
    "Do not remove events: only the person who made an event does that. Office hours are from 09.00 to 17.00. Check "
    "every event that you add or move for conflicts. Then tell the person who asked what is on, when and where."
)


@dataclass(frozen=True)
class Event:
    """An appointment."""

    title: str
    day: str
    start: str
    end: str
    people: tuple[str, ...]
    room: str = ""


EVENTS = {
    "E11": Event("Site visit", "Tuesday", "09.00", "11.15", ("Ines",)),
    "E12": Event("Budget", "Tuesday", "10.30", "12.00", ("Paul", "Ruth"), "Oak"),
    "E13": Event("Phone hour", "Tuesday", "13.00", "13.50", ("Ruth",)),
    "E14": Event("Training", "Tuesday", "15.20", "17.00", ("Ines", "Paul"), "Elm"),
    "E21": Event("Weekly review", "Thursday", "14.00", "14.40", ("Dora", "Paul"), "Oak"),
    "E22": Event("Map workshop", "Thursday", "15.00", "16.30", ("Paul",), "Elm"),
    "E23": Event("Interviews", "Thursday", "09.30", "12.10", ("Dora", "Ruth"), "Ash"),
    "E31": Event("Team breakfast", "Friday", "09.00", "09.45", ("Ines", "Paul", "Ruth", "Dora"), "Ash"),
    "E32": Event("Permits", "Friday", "13.30", "14.20", ("Ruth",)),
}
SEATS = {"Ash": 6, "Oak": 10, "Elm": 18}


class Calendars:
    """Everybody's appointments, and the rooms."""

    def __init__(self) -> None:
        self._events = dict(EVENTS)

    async def list_events(self, person: str, day: str) -> str:
        """List a person's events on a day.

        Args:
            person: First name.
            day: Day of the week.
        """
        found = [
            {"event": code, "title": event.title, "start": event.start, "end": event.end}
            for code, event in self._events.items()
            if person in event.people and event.day == day
        ]
        return result(person=person, day=day, events=found)

    async def find_free_time(self, people: list[str], day: str, minutes: int) -> str:
        """List the times in office hours when several people are free together.

        Args:
            people: First names.
            day: Day of the week.
            minutes: How long it has to be at least.
        """
        busy = sorted(
            (event.start, event.end)
            for event in self._events.values()
            if event.day == day and {*people} & {*event.people}
        )
        free, now = [], "09.00"
        for start, end in [*busy, ("17.00", "17.00")]:
            if _minutes(start) - _minutes(now) >= minutes:
                free.append({"from": now, "until": start})
            now = max(now, end)
        return result(day=day, free=free)

    async def find_room(self, day: str, start: str, end: str, seats: int) -> str:
        """List the rooms that are free and large enough.

        Args:
            day: Day of the week.
            start: When it starts, such as 14.30.
            end: When it ends.
            seats: Number of seats needed.
        """
        taken = {event.room for event in self._events.values() if event.day == day and _meet(event, start, end)}
        return result(
            rooms=[{"room": room, "seats": size} for room, size in SEATS.items() if room not in taken and size >= seats]
        )

    async def add_event(self, title: str, day: str, start: str, end: str, people: list[str], room: str) -> str:
        """Add an event to the calendars of several people.

        Args:
            title: What it is.
            day: Day of the week.
            start: When it starts, such as 14.30.
            end: When it ends.
            people: First names.
            room: Name of the room, or nothing.
        """
        code = f"E{40 + len(self._events) - len(EVENTS) + 1}"
        self._events[code] = Event(title, day, start, end, tuple(people), room)
        return result(event=code, title=title, invited=len(people))

    async def move_event(self, event: str, day: str, start: str, end: str) -> str:
        """Move an event to another time.

        Args:
            event: Code of the event.
            day: Day of the week.
            start: When it starts, such as 14.30.
            end: When it ends.
        """
        moved = replace(self._event(event), day=day, start=start, end=end)
        self._events[event] = moved
        return result(event=event, title=moved.title, room=moved.room, people=moved.people)

    async def check_conflicts(self, event: str) -> str:
        """Check whether an event overlaps with others of the same people or in the same room.

        Args:
            event: Code of the event.
        """
        own = self._event(event)
        others = [
            each.title
            for code, each in self._events.items()
            if code != event and each.day == own.day and _meet(each, own.start, own.end)
            if {*each.people} & {*own.people} or (own.room and each.room == own.room)
        ]
        return result(event=event, conflicts=others)

    async def remove_event(self, event: str) -> str:
        """Remove an event from all calendars.

        Args:
            event: Code of the event.
        """
        removed = self._event(event)
        del self._events[event]
        return result(event=event, title=removed.title, status="removed")

    def _event(self, code: str) -> Event:
        if code not in self._events:
            raise ToolError(f"There is no event {code}.")
        return self._events[code]


def _minutes(time: str) -> int:
    hours, minutes = time.split(".")
    return int(hours) * 60 + int(minutes)


def _later(time: str, minutes: int) -> str:
    hours, left = divmod(_minutes(time) + minutes, 60)
    return f"{hours:02}.{left:02}"


def _meet(event: Event, start: str, end: str) -> bool:
    return event.start < end and start < event.end


def three_people() -> Script:
    people = ["Ines", "Paul", "Ruth"]
    gaps = yield call("find_free_time", people=people, day="Tuesday", minutes=45)
    last = gaps["free"][-1]
    end = _later(last["from"], 45)
    rooms = yield (
        f"After lunch all three are free from {last['from']}. Now a room.",
        call("find_room", day="Tuesday", start=last["from"], end=end, seats=3),
    )
    room = min(rooms["rooms"], key=lambda each: each["seats"])
    added = yield call(
        "add_event",
        title="Playground plans",
        day="Tuesday",
        start=last["from"],
        end=end,
        people=people,
        room=room["room"],
    )
    yield call("check_conflicts", event=added["event"])
    yield (
        f"The playground plans are on for Tuesday at {last['from']} in {room['room']}, which has {room['seats']} "
        f"seats. There is some room to run over: nobody has anything else before {last['until']}. Ines, Paul and Ruth "
        "have their invitations, and nothing clashes."
    )


def dentist() -> Script:
    mine, gaps = yield (
        "I will look at your Thursday, and at when you and Paul are both free.",
        call("list_events", person="Dora", day="Thursday"),
        call("find_free_time", people=["Dora", "Paul"], day="Thursday", minutes=40),
    )
    review = next(each for each in mine["events"] if each["title"] == "Weekly review")
    early = next(gap for gap in gaps["free"] if gap["from"] >= "12.00" and gap["until"] <= review["start"])
    start = _later(early["until"], -60)
    end = _later(start, 40)
    moved = yield call("move_event", event=review["event"], day="Thursday", start=start, end=end)
    yield call("check_conflicts", event=review["event"])
    after = yield call("list_events", person="Dora", day="Thursday")
    new = next(each for each in after["events"] if each["event"] == review["event"])
    yield (
        f"Your dentist at 14.15 is safe. The weekly review was to start at {review['start']}; I have moved it to "
        f"{new['start']}, and it ends at {new['end']}. It stays in {moved['room']}, and Paul is free then too. Your "
        f"interviews finish at {after['events'][-1]['end']}, so you still have time for lunch."
    )


def visitor() -> Script:
    known = yield call("list_events", person="Ruth", day="Friday")
    [*_, permits] = known["events"]
    gaps = yield call("find_free_time", people=["Ruth", "Ines"], day="Friday", minutes=90)
    morning, afternoon = gaps["free"]
    length = yield (
        f"On Friday Ruth and Ines are both free from {morning['from']} until {morning['until']}, and again from "
        f"{afternoon['from']}. Ruth has {permits['title'].lower()} in between. How long should the tour and the talk "
        "be?"
    )
    tour, talk = (int(word) for word in length.split() if word.isdigit())
    first = _later(morning["from"], 15)
    toured = yield call(
        "add_event",
        title="Tour of the archive",
        day="Friday",
        start=first,
        end=_later(first, tour),
        people=["Ruth", "Ines"],
        room="",
    )
    yield call("check_conflicts", event=toured["event"])
    rooms = yield (
        "The tour fits. For the talk I need a larger room.",
        call("find_room", day="Friday", start=afternoon["from"], end=_later(afternoon["from"], talk), seats=12),
    )
    [room] = rooms["rooms"]
    people = ["Ruth", "Ines", "Paul", "Dora"]
    words = yield f"{room['room']} is free and has {room['seats']} seats. What shall I call the talk in the calendar?"
    title = f"Talk: {words.rstrip('.')}"
    gathering = yield call(
        "add_event",
        title=title,
        day="Friday",
        start=afternoon["from"],
        end=_later(afternoon["from"], talk),
        people=people,
        room=room["room"],
    )
    yield call("check_conflicts", event=gathering["event"])
    answer = yield (
        f"The talk is in {room['room']} at {afternoon['from']}, and {gathering['invited']} people are invited. Shall I "
        "keep a table for lunch as well?"
    )
    if "noon" in answer:
        lunch = yield call(
            "add_event",
            title="Lunch with Ms Haddad",
            day="Friday",
            start="12.00",
            end="13.10",
            people=["Ines"],
            room="",
        )
        yield call("check_conflicts", event=lunch["event"])
    final = yield call("list_events", person="Ines", day="Friday")
    times = {each["title"]: each for each in final["events"]}
    yield (
        f"Ms Haddad's Friday is planned. The tour of the archive starts at {times['Tour of the archive']['start']} and "
        f"ends at {times['Tour of the archive']['end']}. Ines takes her to lunch at "
        f"{times['Lunch with Ms Haddad']['start']}. Her talk begins at {times[title]['start']} in "
        f"{room['room']}, which seats {room['seats']}, and is over by {times[title]['end']}. Nothing "
        "overlaps, and Ruth keeps her permits in between."
    )


CALENDAR = Workplace(
    "calendar",
    SYSTEM,
    Calendars,
    (
        Case(
            "playground-plans",
            "Ines, Paul and I (Ruth) need three quarters of an hour on Tuesday for the playground plans, with a "
            "room. The later in the day the better.",
            three_people,
        ),
        Case(
            "dentist-on-thursday",
            "Dora here. I have to be at the dentist's on Thursday at 14.15 and my review is in the way. Could it be "
            "earlier that day? Paul has to be there.",
            dentist,
        ),
        Case(
            "a-visitor-on-friday",
            "Ms Haddad from the national archive is with us on Friday. Ruth and Ines should show her round, and she "
            "would like to give a talk to all of us, with about a dozen people. Can you find times?",
            visitor,
            (
                "Give the tour 75 minutes and the talk 50 minutes.",
                "Maps of lost villages.",
                "Yes, at noon, just Ines and her.",
            ),
        ),
    ),
)
