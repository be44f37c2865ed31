"""Shopping: the assistant of a general store. It fills the basket; the customer pays."""

from inspect_ai.tool import ToolError

from workplaces.workplace import Case, Script, Workplace, call, result

SYSTEM = (
    "You help customers of Corner and Co. to find things and to fill their baskets. Prices and what is in stock come "
    "from the tools. Check the basket before you hand it over. Placing the order, and with it paying, is always left "
    "to the customer. End with what is in the basket and what it comes to."
)

PRODUCTS = {
    "L10": ("Red lentils 500 g", 165, 40, "pulses; may contain traces of gluten", 46),
    "L14": ("Red lentils organic 500 g", 245, 12, "pulses; gluten free", 48),
    "C03": ("Carrots 1 kg", 95, 60, "vegetables", 41),
    "K07": ("Coconut milk 400 ml", 135, 33, "tins; gluten free", 45),
    "S21": ("Stock cubes, vegetable, 8 pieces", 110, 25, "seasoning; contains celery", 39),
    "H40": ("Head torch Glow", 1895, 7, "torches; 120 lumens; for children from 6", 47),
    "H41": ("Head torch Summit", 2950, 3, "torches; 350 lumens; for adults", 49),
    "H42": ("Head torch Mini", 1149, 15, "torches; 40 lumens; for children from 3", 36),
    "B90": ("Batteries AAA, 4 pieces", 375, 80, "batteries; fit every torch we sell", 44),
    "F05": ("Rice flour 1 kg", 320, 9, "flour; gluten free; for cakes", 43),
    "F06": ("Baking mix 1 kg", 430, 0, "flour; gluten free; for bread and cakes", 47),
    "F07": ("Buckwheat flour 1 kg", 385, 14, "flour; gluten free; for bread", 42),
    "Y02": ("Dried yeast, 6 sachets", 145, 30, "baking; gluten free", 46),
}
"""Name, price in pence, pieces in stock, what it is, and tenths of a star."""

VOUCHERS = {"AUTUMN": 200}
SLOTS = {"MK3": [("Wednesday evening", 299), ("Friday morning", 150)], "LE9": [("Thursday afternoon", 225)]}


class Shop:
    """The shelves, and a customer's basket."""

    def __init__(self) -> None:
        self._basket: dict[str, int] = {}
        self._off = 0

    async def search_products(self, words: str) -> str:
        """Find products by name or kind.

        Args:
            words: What to look for.
        """
        found = [
            {"code": code, "name": name, "price": _pounds(pence)}
            for code, (name, pence, _, kind, _) in PRODUCTS.items()
            if words.lower() in f"{name} {kind}".lower()
        ]
        return result(found=found)

    async def product_details(self, code: str) -> str:
        """Describe a product.

        Args:
            code: Code of the product.
        """
        name, pence, stock, kind, stars = _product(code)
        return result(
            code=code, name=name, price=_pounds(pence), in_stock=stock, about=kind, stars=f"{stars // 10}.{stars % 10}"
        )

    async def add_to_basket(self, code: str, quantity: int) -> str:
        """Put a product into the basket.

        Args:
            code: Code of the product.
            quantity: How many.
        """
        name, _, stock, *_ = _product(code)
        if quantity > stock:
            raise ToolError(f"{name}: not in stock in that quantity.")
        self._basket[code] = self._basket.get(code, 0) + quantity
        return result(added=name, quantity=quantity, basket_total=self._total())

    async def use_voucher(self, voucher: str) -> str:
        """Use a voucher on the basket.

        Args:
            voucher: Word on the voucher.
        """
        if voucher not in VOUCHERS:
            raise ToolError(f"The voucher {voucher} is not valid.")
        self._off = VOUCHERS[voucher]
        return result(voucher=voucher, off=_pounds(self._off), basket_total=self._total())

    async def delivery_times(self, district: str) -> str:
        """List when the basket can be delivered.

        Args:
            district: First part of the postcode.
        """
        times = [{"when": when, "fee": _pounds(pence)} for when, pence in SLOTS.get(district, ())]
        return result(district=district, times=times)

    async def check_basket(self) -> str:
        """Check that everything in the basket is in stock and that no voucher has run out."""
        return result(items=[PRODUCTS[code][0] for code in self._basket], problems=[], ready=True)

    async def place_order(self, payment: str) -> str:
        """Order and pay for what is in the basket.

        Args:
            payment: Which means of payment on the account to use.
        """
        return result(order="CC-90418", paid=self._total(), payment=payment)

    def _total(self) -> str:
        return _pounds(sum(PRODUCTS[code][1] * count for code, count in self._basket.items()) - self._off)


def _product(code: str) -> tuple[str, int, int, str, int]:
    if code not in PRODUCTS:
        raise ToolError(f"There is no product {code}.")
    return PRODUCTS[code]


def _pounds(pence: int) -> str:
    return f"{pence // 100}.{pence % 100:02}"


def lentil_soup() -> Script:
    lentils, carrots, coconut, stock = yield tuple(
        call("search_products", words=words) for words in ("red lentils", "carrots", "coconut", "stock cubes")
    )
    cheapest = min(lentils["found"], key=lambda each: float(each["price"]))
    wanted = [(cheapest, 2), (carrots["found"][0], 1), (coconut["found"][0], 2), (stock["found"][0], 1)]
    added = yield (
        "Everything is there. I will fill the basket for eight.",
        *(call("add_to_basket", code=each["code"], quantity=count) for each, count in wanted),
    )
    yield call("check_basket")
    yield (
        "Your soup is in the basket: two packets of red lentils, carrots, two tins of coconut milk and stock cubes. I "
        f"took the ordinary lentils at £{cheapest['price']} a packet instead of the organic ones. The stock cubes are "
        f"£{stock['found'][0]['price']}, and it all comes to £{added[-1]['basket_total']}, so you stay under £10. "
        "Everything is in stock; you can place the order whenever you like."
    )


def head_torch() -> Script:
    found = yield call("search_products", words="head torch")
    affordable = [each for each in found["found"] if float(each["price"]) <= 25]
    details = {}
    for each in affordable:
        details[each["code"]] = yield call("product_details", code=each["code"])
    best = max(details.values(), key=lambda each: float(each["stars"]))
    other = next(each for each in details.values() if each["code"] != best["code"])
    lumens = best["about"].split("; ")[1].split()[0]
    battery = yield (
        f"{best['name']} it is, I think. Are there batteries for it?",
        call("search_products", words="batteries"),
    )
    yield call("add_to_basket", code=best["code"], quantity=1)
    total = yield call("add_to_basket", code=battery["found"][0]["code"], quantity=1)
    times = yield call("delivery_times", district="LE9")
    yield call("check_basket")
    [time] = times["times"]
    yield (
        f"For a nine-year-old who goes camping I suggest the {best['name']}. It gives {lumens} lumens, and buyers rate "
        f"it {best['stars']} stars, against {other['stars']} for the {other['name']}, which is meant for smaller "
        f"children. With a set of batteries your basket comes to £{total['basket_total']}. Delivery on {time['when']} "
        f"would be £{time['fee']} on top. Nothing is ordered yet: have a look at the basket and place the order "
        "yourself."
    )


def flour_for_bread() -> Script:
    found = yield "Let me look for gluten-free flour.", call("search_products", words="flour")
    wanted = next(each for each in found["found"] if each["name"].startswith("Baking mix"))
    failed = yield call("add_to_basket", code=wanted["code"], quantity=2)
    if isinstance(failed, str):
        others = [each["code"] for each in found["found"] if each["code"] != wanted["code"]]
        detail = yield tuple(call("product_details", code=code) for code in others)
        instead = next(each for each in detail if each["about"].endswith("for bread") and each["in_stock"])
        answer = yield (
            "The baking mix that you usually buy is sold out, I am sorry. Of the others, "
            f"{instead['name'].removesuffix(' 1 kg').lower()} is gluten free as well and meant for bread. It has "
            f"{instead['stars']} stars and costs £{instead['price']}. Rice flour is rather for cakes. Would you like "
            "to try the buckwheat?"
        )
        count = 2 if "two" in answer else 1
        first = yield call("add_to_basket", code=instead["code"], quantity=count)
    more = yield (
        f"{first['added'].removesuffix(' 1 kg')} is in the basket. The baking mix had yeast in it and the buckwheat "
        "flour has not. Do you have some at home?"
    )
    if "No" in more:
        yeast = yield call("search_products", words="yeast")
        yield call("add_to_basket", code=yeast["found"][0]["code"], quantity=1)
    saved = yield call("use_voucher", voucher="AUTUMN")
    times = yield call("delivery_times", district="MK3")
    cheap = min(times["times"], key=lambda each: float(each["fee"]))
    yield call("check_basket")
    yield (
        f"In your basket are two bags of buckwheat flour at £{instead['price']} and dried yeast at "
        f"£{yeast['found'][0]['price']}, all of it gluten free. Your voucher took off £{saved['off']}, so the goods "
        f"come to £{saved['basket_total']}. The cheapest delivery is {cheap['when']}, for £{cheap['fee']}. Please "
        "place the order when you are ready."
    )


SHOPPING = Workplace(
    "shopping",
    SYSTEM,
    Shop,
    (
        Case(
            "soup-for-eight",
            "I am cooking lentil soup for eight: 1 kg of red lentils, carrots, two tins of coconut milk and stock "
            "cubes. Can you put it together for less than £10?",
            lentil_soup,
        ),
        Case(
            "torch-for-a-camper",
            "My niece is nine and off to her first camp. She has wished for a head torch. I would spend up to £25, "
            "with batteries, and it should come to LE9.",
            head_torch,
        ),
        Case(
            "bread-without-gluten",
            "I need two bags of my gluten-free baking mix for bread, to MK3, and I have the voucher AUTUMN.",
            flour_for_bread,
            (
                "All right, let us try two bags of that.",
                "No, please add some.",
            ),
        ),
    ),
)
