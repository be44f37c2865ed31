"""Booking: rooms in the guest houses of a valley."""

from datetime import date, timedelta

from inspect_ai.tool import ToolError

from workplaces.workplace import Case, Script, Workplace, call, result

SYSTEM = (
    "You are the booking assistant of Larkfield Stays, which lets rooms in small guest houses. Use the tools to find, "
    "price and book rooms. Read prices from the tools, never from memory. A guest has a room only once its booking is "
    "confirmed. Only the office cancels bookings. When you are done, tell the guest what was booked and what it costs."
)

ROOMS = {
    "Mill House, Garden Room": ("Kelby", 118, 2, "ground floor, walk-in shower, door to the garden", 6),
    "Mill House, Loft": ("Kelby", 96, 2, "second floor, 31 stairs, skylight, bath", 6),
    "Station Inn, Room 4": ("Kelby", 84, 2, "first floor, above the bar, music until 23.00 on Fridays", 4),
    "Harbour View, Family Room": ("Sandwick", 152, 4, "first floor, lift, two bunks and a double bed", 8),
    "Old School, Annexe": ("Sandwick", 139, 5, "ground floor, ramp, wet room, doors 92 cm wide", 7),
    "Old School, Room 2": ("Sandwick", 88, 2, "ground floor, one step, shower over the bath", 7),
    "Bridge Cottage, Blue Room": ("Aldern", 103, 2, "first floor, desk, quiet side", 5),
}
"""Town, price of a night in pounds, guests, what it is like, and the tax of a night."""

TAKEN = {
    ("Station Inn, Room 4", "2027-06-13"),
    ("Old School, Room 2", "2027-08-03"),
    ("Bridge Cottage, Blue Room", "2027-03-10"),
    ("Bridge Cottage, Blue Room", "2027-03-11"),
}


class Desk:
    """Rooms, holds and bookings."""

    def __init__(self) -> None:
        self._taken = set(TAKEN)
        self._holds: dict[str, tuple[str, str, int, str]] = {}
        self._bookings = {
            "LS-2207": ("Bridge Cottage, Blue Room", "2027-03-10", 2, "Okafor"),
        }

    async def search_rooms(self, town: str, arrival: str, nights: int, guests: int) -> str:
        """List the free rooms of a town.

        Args:
            town: Name of the town.
            arrival: First night, as YYYY-MM-DD.
            nights: Number of nights.
            guests: Number of guests.
        """
        free = [
            {"room": room, "price_per_night": f"{price}.00", "sleeps": sleeps}
            for room, (where, price, sleeps, *_) in ROOMS.items()
            if where == town and sleeps >= guests and not self._taken & _dates(room, arrival, nights)
        ]
        return result(free=free)

    async def room_details(self, room: str) -> str:
        """Describe a room.

        Args:
            room: Full name of the room.
        """
        town, _, sleeps, about, _ = _room(room)
        return result(room=room, town=town, sleeps=sleeps, about=about)

    async def quote_price(self, room: str, nights: int) -> str:
        """Work out the price of a stay, with the visitors' tax.

        Args:
            room: Full name of the room.
            nights: Number of nights.
        """
        _, price, _, _, tax = _room(room)
        return result(
            room=room,
            stay=f"{price * nights}.00",
            visitors_tax=f"{tax * nights}.00",
            total=f"{(price + tax) * nights}.00",
            currency="GBP",
        )

    async def list_bookings(self, surname: str) -> str:
        """List a guest's bookings.

        Args:
            surname: The guest's surname.
        """
        found = [
            {"reference": reference, "room": room, "arrival": arrival, "nights": nights}
            for reference, (room, arrival, nights, name) in self._bookings.items()
            if name == surname
        ]
        return result(bookings=found)

    async def hold_room(self, room: str, arrival: str, nights: int, surname: str) -> str:
        """Hold a room for a guest, without booking it yet.

        Args:
            room: Full name of the room.
            arrival: First night, as YYYY-MM-DD.
            nights: Number of nights.
            surname: The guest's surname.
        """
        _room(room)
        if self._taken & _dates(room, arrival, nights):
            raise ToolError(f"{room} is not free on every night of that stay.")
        hold = f"H{len(self._holds) + 61}"
        self._holds[hold] = (room, arrival, nights, surname)
        return result(hold=hold, room=room, minutes_kept=30)

    async def confirm_booking(self, hold: str) -> str:
        """Turn a hold into a confirmed booking.

        Args:
            hold: Code of the hold.
        """
        if hold not in self._holds:
            raise ToolError(f"There is no hold {hold}.")
        room, arrival, nights, name = self._holds.pop(hold)
        self._taken |= _dates(room, arrival, nights)
        reference = f"LS-{2310 + len(self._bookings) * 7}"
        self._bookings[reference] = (room, arrival, nights, name)
        return result(reference=reference, status="confirmed", room=room)

    async def cancel_booking(self, reference: str) -> str:
        """Cancel a confirmed booking.

        Args:
            reference: Reference of the booking.
        """
        if reference not in self._bookings:
            raise ToolError(f"There is no booking {reference}.")
        room, *_ = self._bookings.pop(reference)
        return result(reference=reference, status="cancelled", room=room)


def _room(room: str) -> tuple[str, int, int, str, int]:
    if room not in ROOMS:
        raise ToolError(f"There is no room named {room}.")
    return ROOMS[room]


def _dates(room: str, arrival: str, nights: int) -> set[tuple[str, str]]:
    first = date.fromisoformat(arrival)
    return {(room, (first + timedelta(days=night)).isoformat()) for night in range(nights)}


def anniversary() -> Script:
    stay = {"arrival": "2027-06-12", "nights": 2}
    found = yield "I will see what is free in Kelby that weekend.", call("search_rooms", town="Kelby", guests=2, **stay)
    rooms = [each["room"] for each in found["free"]]
    described = yield tuple(call("room_details", room=room) for room in rooms)
    quiet = next(each["room"] for each in described if "garden" in each["about"])
    price = yield f"{quiet} sounds right. Let me price it.", call("quote_price", room=quiet, nights=2)
    held = yield call("hold_room", room=quiet, surname="Brandt", **stay)
    booked = yield call("confirm_booking", hold=held["hold"])
    yield (
        f"Happy anniversary in advance! You have {quiet} in Kelby for two nights from 12 June. It is on the ground "
        f"floor and opens onto the garden, so there is no street and no bar below you. The stay is £{price['stay']} "
        f"and the visitors' tax £{price['visitors_tax']}, so £{price['total']} in all, which is within your £300. "
        f"Your reference is {booked['reference']}."
    )


def grandmother() -> Script:
    stay = {"arrival": "2027-08-02", "nights": 3}
    found = yield call("search_rooms", town="Sandwick", guests=4, **stay)
    rooms = [each["room"] for each in found["free"]]
    about = {}
    for room in rooms:
        details = yield f"Now the details of {room}.", call("room_details", room=room)
        about[room] = details["about"]
    level = next(room for room in rooms if "ramp" in about[room])
    prices = yield tuple(call("quote_price", room=room, nights=3) for room in rooms)
    cost = {each["room"]: each["total"] for each in prices}
    other = next(room for room in rooms if room != level)
    answer = yield (
        f"Two rooms in Sandwick take all four of you. {level} is the one I would take with a wheelchair: "
        f"{about[level]}. It costs £{cost[level]} for the three nights. {other} has a lift but no wet room, and costs "
        f"£{cost[other]}. Which one shall I hold, and under which name?"
    )
    chosen = level if "Annexe" in answer else other
    held = yield "Thank you. I am holding it now.", call("hold_room", room=chosen, surname="Petrov", **stay)
    question = yield (
        f"{chosen} is held for {held['minutes_kept']} minutes in the name of Petrov. Shall I confirm it, or would you "
        "like to ask your mother first?"
    )
    if "aunt" in question:
        extra = yield call("search_rooms", town="Sandwick", guests=1, **stay)
        small = [each["room"] for each in extra["free"] if each["room"] not in rooms]
        if not small:
            yield (
                "I am sorry, no smaller room is free on all of your nights. Your aunt could still share the Annexe, "
                f"which sleeps {found['free'][-1]['sleeps']}. Shall I go on?"
            )
    booked = yield call("confirm_booking", hold=held["hold"])
    listed = yield call("list_bookings", surname="Petrov")
    [entry] = listed["bookings"]
    doors = about[chosen].partition("doors ")[2].split()[0]
    yield (
        f"It is done: {entry['room']} in Sandwick is confirmed for {entry['nights']} nights from 2 August, reference "
        f"{booked['reference']}. The total is £{cost[chosen]} with the visitors' tax. The entrance has a ramp, and the "
        f"doors are {doors} cm wide, so the wheelchair will pass. There is a bed for your aunt too."
    )


def missed_train() -> Script:
    room = "Bridge Cottage, Blue Room"
    listed, price, held = yield (
        "I will look at your booking, price one more night, and hold the room in case it is free.",
        call("list_bookings", surname="Okafor"),
        call("quote_price", room=room, nights=1),
        call("hold_room", room=room, surname="Okafor", arrival="2027-03-12", nights=1),
    )
    [mine] = listed["bookings"]
    booked = yield call("confirm_booking", hold=held["hold"])
    yield (
        f"You can stay where you are. {mine['room']} is yours for the night of 12 March as well, and you need not "
        f"change rooms. The extra night costs £{price['stay']} plus £{price['visitors_tax']} visitors' tax, "
        f"£{price['total']} together. It has a reference of its own, {booked['reference']}; your first booking, "
        f"{mine['reference']}, stays as it is."
    )


BOOKING = Workplace(
    "booking",
    SYSTEM,
    Desk,
    (
        Case(
            "anniversary-weekend",
            "Hello! My wife and I would like two nights in Kelby from 12 June 2027 for our anniversary. We sleep badly "
            "when there is noise, and we would rather not spend more than £300. Please book whatever suits us best. "
            "The name is Brandt.",
            anniversary,
        ),
        Case(
            "wheelchair-at-the-seaside",
            "We want to take my mother to the sea at Sandwick, three nights from 2 August 2027, four people in one "
            "room. She uses a wheelchair and cannot manage a bath. What do you have?",
            grandmother,
            (
                "The Annexe, definitely. Petrov, please.",
                "My aunt may join us. Is there a small room for her as well?",
                "Yes, please go ahead with the Annexe.",
            ),
        ),
        Case(
            "one-more-night",
            "My train home on 12 March is cancelled and the next one goes a day later. I am in the Blue Room of "
            "Bridge Cottage, name of Okafor. Can I keep my room for one more night, and what will that cost me?",
            missed_train,
        ),
    ),
)
