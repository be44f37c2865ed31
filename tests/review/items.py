"""Items to review."""

from umpirical.domain.reviews import ReviewItem
from umpirical.domain.stimuli import CheckResult


def an_item(name: str = "item-0", **fields: object) -> ReviewItem:
    given: dict = {
        "id": name,
        "test": "paraphrase",
        "question": "Is the meaning unchanged?",
        "task": "Describe the sea.",
        "before": f"The sea is blue, says {name}.",
        "after": f"Blue is the sea, says {name}.",
        "generator": "writer-1",
        "target": "4",
        "checks": (CheckResult("length", passed=True, found="1.02", allowed="0.8 to 1.25"),),
        "opinions": ("same",),
    }
    return ReviewItem(**given | fields)


def some_items(count: int, **fields: object) -> list[ReviewItem]:
    return [an_item(f"item-{number}", **fields) for number in range(count)]
