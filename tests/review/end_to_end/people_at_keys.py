"""People who review by keyboard alone, and remember what the page confirmed."""

from dataclasses import dataclass, replace
from hashlib import sha256

REASONS = ("meaning", "label", "unnatural", "artefact", "harmful", "other")


@dataclass(frozen=True)
class Done:
    """A decision that the page confirmed."""

    person: str
    item: str
    kind: str
    label: str = ""
    reason: str | None = None
    undone: bool = False
    adjudicates: bool = False


def come_in(context, link):
    """Opens the link and presses its button by keyboard; returns the page and a list of its console messages."""
    # A busy machine takes its time, and nothing here is about time.
    context.set_default_timeout(180_000)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(link)
    press_through(page, "Start reviewing")
    page.locator("nav").wait_for()
    return page, complaints


def press_through(page, name, *, most=20):
    """Moves to the link or button of that name with Tab, and presses it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent.trim()").startswith(name):
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"nothing named {name} is reached by Tab")


class _AtKeys:
    """What reviewers and adjudicators have in common."""

    def __init__(self, page, name):
        self.page = page
        self.name = name
        self.done: list[Done] = []
        self.waiting: tuple[Done, str] | None = None
        """A decision on its way, and the key that sent it."""

    @property
    def item(self):
        return self.page.locator("#screen").get_attribute("data-item")

    def send(self):
        """Presses the keys of a decision without waiting for the result. Returns False if nothing is to decide."""
        item = self.item
        if item is None:
            return False
        said, keys = self.choice(item)
        for key in keys:
            self._press(key)
        self.waiting = (said, keys[-1])
        return True

    def hear(self):
        """Waits for the page's answer. Returns False if the decision was refused or may not be saved."""
        said, _ = self.waiting
        gone, trouble = f'#screen:not([data-item="{said.item}"])', "#trouble:not(:empty), .refused"
        self.page.locator(f"{gone}, {trouble}").first.wait_for(state="attached")
        if self.page.locator(trouble).count():
            return False
        self.done.append(said)
        self.waiting = None
        return True

    def send_again(self):
        """Does what the page asks for after a failure: presses the same key again."""
        self.page.locator("#trouble").evaluate("one => { one.textContent = ''; }")
        self._press(self.waiting[1])

    def act(self):
        """Makes one decision and waits for it to be confirmed. Returns False if there is nothing to decide."""
        if not self.send():
            return False
        if not self.hear():
            # A reviewer may undo a decision while the adjudicator reads it. Then the page shows how things stand.
            refused = self.page.locator(".refused")
            words = refused.inner_text() if refused.count() else self.page.locator("#trouble").inner_text()
            assert "in the meantime" in words or "no longer disputed" in words, words
            refused.evaluate("one => one.remove()")
        return True

    def _press(self, key):
        if len(key) > 1 and not key.startswith("Control+"):
            self.page.keyboard.type(key)
        else:
            self.page.keyboard.press(key)

    def _chance(self, item, purpose, *, of):
        """A number below `of` that depends on person, item and purpose alone."""
        return sha256(f"{self.name} {item} {purpose}".encode()).digest()[0] % of


class Reviewer(_AtKeys):
    """Accepts most items, rejects some, edits some; two reviewers often disagree."""

    def choice(self, item):
        """The decision to make, and the keys that make it."""
        labelled = self.page.locator("fieldset.labels").count() > 0
        chance = self._chance(item, "kind", of=16)
        if chance == 0:
            place = self._chance(item, "reason", of=6)
            return Done(self.name, item, "reject", reason=REASONS[place]), ["r", str(place + 1)]
        usual = sha256(item.encode()).digest()[0]
        label = str(1 + (usual + self._chance(item, "label", of=6) // 5) % 3) if labelled else ""
        if chance == 1:
            return Done(self.name, item, "edit", label), [*label, "e", "Truly so. ", "Control+Enter"]
        return Done(self.name, item, "accept", label), [*label, "a"]

    def skip_and_undo(self):
        """Skips the item, then undoes the skip."""
        item = self.item
        self.page.keyboard.press("s")
        self.page.locator(f'#screen:not([data-item="{item}"])').wait_for(state="attached")
        self.done.append(Done(self.name, item, "skip"))
        self.undo()

    def undo(self):
        """Undoes the last decision; its item is open again."""
        last = self._last()
        self.page.keyboard.press("u")
        self.page.locator(f'#screen[data-item="{self.done[last].item}"]').wait_for(state="attached")
        self.done[last] = replace(self.done[last], undone=True)
        return self.done[last].item

    def _last(self):
        return max(place for place, said in enumerate(self.done) if not said.undone)

    def reject(self, reason):
        item = self.item
        self.page.keyboard.press("r")
        self.page.keyboard.press(str(1 + REASONS.index(reason)))
        self.waiting = (Done(self.name, item, "reject", reason=reason), "")
        assert self.hear()


class Adjudicator(_AtKeys):
    """Sides with one reviewer or the other, or rejects."""

    def choice(self, item):
        """To side with the first or the second reviewer, or to reject."""
        place = self._chance(item, "side", of=3)
        if place == 2:
            return Done(self.name, item, "reject", reason="other", adjudicates=True), ["r", "6"]
        reviewer = self.page.locator(".disputant").nth(place)
        words, key = reviewer.locator(".verdict").inner_text(), reviewer.locator("button kbd").inner_text()
        rejects, label = words.startswith("rejected"), words.partition(", label ")[2]
        side = Done(self.name, item, "reject" if rejects else "accept", label, adjudicates=True)
        return side, [key]
