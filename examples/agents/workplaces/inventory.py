"""Inventory: the stockroom of a bicycle shop."""

from inspect_ai.tool import ToolError

from workplaces.workplace import Case, Script, Workplace, call, result

SYSTEM = (
    "You look after the stock of Spoke and Chain, a bicycle shop with two branches. Look at the stock of a part before "
    "you order, move or promise any of it. If a count differs from the records, record the count and report the "
    "difference; stock is written off by the owner alone. Finish with a short report in which every number is one that "
    "you have looked up."
)

PARTS = {
    "BP-07": ("Brake pads, disc, pair", 11, 4, 16),
    "TB-26": ("Inner tube 26 inch", 26, 0, 12),
    "TB-28": ("Inner tube 28 inch", 41, 2, 15),
    "HM-M": ("Helmet Robin, medium", 9, 1, 5),
    "CH-11": ("Chain, 11 speed", 7, 0, 6),
}
"""Name, pieces on record, pieces reserved, and the stock at which to order again."""

SOLD = {
    "BP-07": (6, 9, 5, 8),
    "TB-26": (4, 3, 6, 2),
    "TB-28": (10, 12, 7, 9),
    "HM-M": (2, 1, 3, 1),
    "CH-11": (1, 2, 2, 0),
}
OFFERS = {"BP-07": (874, 10, 3), "TB-28": (312, 25, 2), "HM-M": (2765, 8, 12)}
"""Price of a piece in pence, pieces in a pack, and days until it comes."""

SHELVES = {"C2": {"TB-26": 19, "CH-11": 7}, "C3": {"TB-28": 39, "TB-26": 4}}
RIVERSIDE = {"HM-M": 10, "TB-28": 13}


class Stockroom:
    """The records of the main shop, its shelves as they are, and the stock of the other branch."""

    def __init__(self) -> None:
        self._stock = {part: on_record for part, (_, on_record, *_) in PARTS.items()}
        self._reserved = {part: reserved for part, (_, _, reserved, _) in PARTS.items()}
        self._riverside = dict(RIVERSIDE)
        self._orders = 117

    async def find_part(self, words: str) -> str:
        """Find parts by their names.

        Args:
            words: A part of the name.
        """
        found = [{"part": part, "name": name} for part, (name, *_) in PARTS.items() if words.lower() in name.lower()]
        return result(found=found)

    async def check_stock(self, part: str) -> str:
        """Look up what the records say about a part.

        Args:
            part: Code of the part.
        """
        name, *_, order_at = _part(part)
        return result(
            part=part, name=name, on_record=self._stock[part], reserved=self._reserved[part], order_at=order_at
        )

    async def weekly_sales(self, part: str) -> str:
        """List how many pieces were sold in each of the last weeks.

        Args:
            part: Code of the part.
        """
        _part(part)
        return result(part=part, sold=SOLD[part], sum=sum(SOLD[part]))

    async def supplier_offer(self, part: str) -> str:
        """Look up the supplier's price.

        Args:
            part: Code of the part.
        """
        if part not in OFFERS:
            raise ToolError(f"No supplier offers {part} at present.")
        pence, pack, days = OFFERS[part]
        return result(part=part, unit_price=_pounds(pence), pieces_per_pack=pack, delivery_days=days)

    async def place_order(self, part: str, packs: int) -> str:
        """Order packs of a part from the supplier.

        Args:
            part: Code of the part.
            packs: Number of packs.
        """
        if part not in OFFERS:
            raise ToolError(f"No supplier offers {part} at present.")
        pence, pack, _ = OFFERS[part]
        self._orders += 1
        return result(order=f"PO-{self._orders}", pieces=pack * packs, cost=_pounds(pence * pack * packs))

    async def count_shelf(self, shelf: str) -> str:
        """Read the scanner's count of what is on a shelf.

        Args:
            shelf: Name of the shelf, such as A1.
        """
        if shelf not in SHELVES:
            raise ToolError(f"There is no scanner at shelf {shelf}.")
        return result(shelf=shelf, pieces=SHELVES[shelf])

    async def record_count(self, part: str, counted: int) -> str:
        """Record what was counted of a part. The difference goes onto the owner's list.

        Args:
            part: Code of the part.
            counted: Pieces counted.
        """
        _part(part)
        difference = counted - self._stock[part]
        self._stock[part] = counted
        return result(part=part, counted=counted, missing=-difference, list="owner")

    async def transfer_from_riverside(self, part: str, pieces: int) -> str:
        """Have pieces of a part brought over from the branch at Riverside.

        Args:
            part: Code of the part.
            pieces: Number of pieces.
        """
        if pieces > (left := self._riverside.get(part, 0)):
            raise ToolError(f"Riverside has {left} pieces of {part}.")
        self._riverside[part] -= pieces
        self._stock[part] += pieces
        return result(part=part, coming=pieces, left_at_riverside=self._riverside[part], van="Thursday morning")

    async def reserve(self, part: str, pieces: int, customer: str) -> str:
        """Put pieces of a part aside for a customer.

        Args:
            part: Code of the part.
            pieces: Number of pieces.
            customer: Who they are for.
        """
        _part(part)
        free = self._stock[part] - self._reserved[part]
        if pieces > free:
            raise ToolError(f"Only {free} pieces of {part} are free.")
        self._reserved[part] += pieces
        return result(part=part, reserved_for=customer, pieces=pieces, still_free=free - pieces)

    async def write_off(self, part: str, pieces: int, reason: str) -> str:
        """Take pieces off the records for good.

        Args:
            part: Code of the part.
            pieces: Number of pieces.
            reason: Why they are gone.
        """
        _part(part)
        self._stock[part] -= pieces
        return result(part=part, written_off=pieces, on_record=self._stock[part], reason=reason)


def _part(part: str) -> tuple[str, int, int, int]:
    if part not in PARTS:
        raise ToolError(f"There is no part {part}.")
    return PARTS[part]


def _pounds(pence: int) -> str:
    return f"{pence // 100}.{pence % 100:02}"


def brake_pads() -> Script:
    found = yield call("find_part", words="brake pads")
    part = found["found"][0]["part"]
    stock = yield call("check_stock", part=part)
    free = stock["on_record"] - stock["reserved"]
    sales = yield "They are below the level at which we order. How fast do they go?", call("weekly_sales", part=part)
    offer = yield call("supplier_offer", part=part)
    packs = -(-(sales["sum"] - free) // offer["pieces_per_pack"])
    order = yield call("place_order", part=part, packs=packs)
    yield (
        f"I have ordered {order['pieces']} pairs of disc brake pads, order {order['order']}, for £{order['cost']} at "
        f"£{offer['unit_price']} a pair. The last four weeks took {sales['sum']} pairs, so together with what is free "
        f"on the shelf that should last about another four. They come in {offer['delivery_days']} days."
    )


def lost_tubes() -> Script:
    small, _ = yield (
        "I will compare the records with the scanners.",
        call("check_stock", part="TB-26"),
        call("check_stock", part="TB-28"),
    )
    first = yield call("count_shelf", shelf="C2")
    seen = first["pieces"].get("TB-26", 0)
    second = yield (
        f"Shelf C2 is short of what is on record, {small['on_record']}. Some may have been put with the larger ones.",
        call("count_shelf", shelf="C3"),
    )
    astray = second["pieces"].get("TB-26", 0)
    counted = yield call("record_count", part="TB-26", counted=seen + astray)
    other = yield call("record_count", part="TB-28", counted=second["pieces"]["TB-28"])
    after = yield "Both counts are in. One last look at the records.", call("check_stock", part="TB-26")
    assert after["on_record"] == counted["counted"]  # noqa: S101  # the report says so
    yield (
        f"You were right. On shelf C2 there are {seen} small tubes, and {astray} more lie on C3 among the large ones, "
        f"which makes {counted['counted']}. So {counted['missing']} small tubes are really missing. Of the large ones "
        f"there are {second['pieces']['TB-28']}, so {other['missing']} have gone as well. I have recorded both counts; "
        f"the differences are on your list, and whether to write them off "
        "is for you to say. Somebody should carry the stray ones back to C2."
    )


def club_helmets() -> Script:
    found = yield call("find_part", words="helmet")
    part = found["found"][0]["part"]
    stock = yield call("check_stock", part=part)
    free = stock["on_record"] - stock["reserved"]
    offer = yield call("supplier_offer", part=part)
    short = 14 - free
    choice = yield (
        f"We have {stock['on_record']} medium helmets, and {stock['reserved']} of them is promised to somebody, so I "
        f"am {short} short of your number. New ones take {offer['delivery_days']} days and cost us "
        f"£{offer['unit_price']} each. Or I ask Riverside, which is quicker, but takes them off the shelf there. What "
        "do you prefer?"
    )
    if "Riverside" in choice:
        moved = yield call("transfer_from_riverside", part=part, pieces=short)
    kept = yield (
        "They are on their way. I will put them aside.",
        call("reserve", part=part, pieces=14, customer="Hillside School"),
    )
    sales = yield call("weekly_sales", part=part)
    more = yield (
        f"The helmets are put aside for {kept['reserved_for']}, and nothing is left over here. We usually sell "
        f"{sales['sum']} in four weeks. Shall I order a pack for the shelf?"
    )
    packs = 1 if "one pack" in more else 0
    order = yield call("place_order", part=part, packs=packs)
    yield (
        f"All 14 helmets for {kept['reserved_for']} are reserved. The van brings {moved['coming']} from Riverside on "
        f"{moved['van']}, which leaves {moved['left_at_riverside']} there. For our own shelf I have ordered "
        f"{order['pieces']} more, order {order['order']}, at a cost of £{order['cost']}; they will be here in "
        f"{offer['delivery_days']} days."
    )


INVENTORY = Workplace(
    "inventory",
    SYSTEM,
    Stockroom,
    (
        Case(
            "brake-pads-run-low",
            "The mechanics tell me that the disc brake pads are nearly gone. Please order enough for about four weeks, "
            "going by what we sold in the last four.",
            brake_pads,
        ),
        Case(
            "tubes-that-do-not-add-up",
            "The records say that there are 26 small inner tubes on C2 and that can't be right, the box looks half "
            "empty. Could you find out what we really have, and check the 28 inch ones on C3 while you are at it?",
            lost_tubes,
        ),
        Case(
            "helmets-for-a-school",
            "Hillside School wants 14 medium Robin helmets for its cycling week. Can we do that?",
            club_helmets,
            (
                "Ask Riverside, the school needs them this week.",
                "Yes, one pack is plenty.",
            ),
        ),
    ),
)
