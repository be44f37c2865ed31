"""A policy: the limits that a judge is held to for one use, and what makes up for missing one of them.

A policy is data. The shipped ones are files in `policies`, a user's is a file of the same form, and every word of a
decision comes from it.
"""

from math import ceil
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from umpirical.domain.scales import JudgeKind
from umpirical.reports.record import Strict

LADDER_TOP = 5
"""Requirements between the best answer of the ladder and the worst."""

RULES = (
    """\
A limit is held one-sided. It passes if an exact bound, with every missing answer counted against the judge, lies \
inside it, and fails if a bound on the other side lies outside. What is neither is INCONCLUSIVE; what was not \
measured or is undefined is N/A, and N/A never counts as a pass.
Do not use: an essential limit fails, and no way of use makes up for it.
Not enough data: otherwise, an essential limit is INCONCLUSIVE or N/A and nothing makes up for it, the run is \
incomplete, or the stimuli failed a gate that blocks.
Use with limits: otherwise, a limit is missed or unsettled; a way of use makes up for every essential one.
Use: every limit passes."""
).splitlines()
"""The rules as printed on the page."""


def step_text(value: Any) -> Any:  # noqa: ANN401  # whatever the file holds
    """A step may be written as a number."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


class Condition(Strict):
    """A measure and the value that it is held to."""

    measure: str = Field(description="The measure's name, as in docs/measures.md.")
    at: Annotated[str, BeforeValidator(step_text)] = Field(
        default="", description="The part of the design: a step of the ladder, such as 5; by default the whole."
    )
    at_most: float | None = Field(default=None, ge=-1, le=100, description="The most that is allowed.")
    at_least: float | None = Field(default=None, ge=-1, le=100, description="The least that is allowed.")

    @model_validator(mode="after")
    def _one_side(self) -> "Condition":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"{self.measure} needs at_most or at_least, and not both")
        return self

    @property
    def kind(self) -> Literal["at_most", "at_least"]:
        return "at_least" if self.at_most is None else "at_most"

    @property
    def value(self) -> float:
        given = self.at_least if self.at_most is None else self.at_most
        assert given is not None  # noqa: S101  # one of the two is given
        return given

    @property
    def key(self) -> tuple[str, str]:
        return self.measure, self.at

    def implies(self, other: "Condition") -> bool:
        """Whether whatever meets this one meets the other too."""
        if (self.key, self.kind) != (other.key, other.kind):
            return False
        return self.value <= other.value if self.kind == "at_most" else self.value >= other.value


class Cure(Strict):
    """A way of use that makes up for missing a limit."""

    way: str = Field(description="What to do, in a sentence.")
    needs: tuple[Condition, ...] = Field(default=(), description="What has to pass for it to work.")


class Limit(Condition):
    """One limit of a policy, and the words that go with it."""

    essential: bool = Field(default=True, description="Whether the judge is not used unless it is met or made up for.")
    refuses: bool = Field(
        default=True, description="Whether missing it speaks against the judge; if not, it only leaves things open."
    )
    cures: tuple[Cure, ...] = Field(default=(), description="What makes up for missing it, the best way first.")
    unmeasured: str = Field(
        default="", description="How to use the judge if the design does not measure it; empty if it must be measured."
    )
    good_for: str = Field(default="", description="Said about a judge that meets it.")
    not_for: str = Field(default="", description="Said about a judge that does not meet it, or is not shown to.")


class Policy(Strict):
    """The limits for one use of judges."""

    policy: str = Field(description="Its name.")
    about: str = Field(description="The use that it is for.")
    accepts: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges at a limit are accepted."
    )
    refuses: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges that meet every limit are refused."
    )
    look: int = Field(default=1, ge=1, description="1, or more for a follow-up, which errs half as often each time.")
    compare: tuple[Limit, ...] = Field(default=(), description="The limits of a judge that compares two answers.")
    grade: tuple[Limit, ...] = Field(default=(), description="The limits of a judge that grades one answer.")

    @property
    def looks_together(self) -> int:
        """How many times as often all looks up to this one err as this one alone: 1, then 2 + 1, then 4 + 2 + 1."""
        return (1 << self.look) - 1

    def at_look(self, look: int) -> "Policy":
        """A second look gives chance a second try: each follow-up errs half as often as the look before it."""
        times = 2 ** (look - self.look)
        return self.model_copy(update={"accepts": self.accepts / times, "refuses": self.refuses / times, "look": look})

    @model_validator(mode="after")
    def _once(self) -> "Policy":
        for limits in (self.compare, self.grade):
            keys = [limit.key for limit in limits]
            if doubled := [key for key in keys if keys.count(key) > 1]:
                raise ValueError(f"{doubled[0][0]} is limited twice")
        return self

    def limits(self, kind: JudgeKind, *, grades: int | None = None) -> tuple[Limit, ...]:
        """Returns the limits of a kind of judge.

        A judge of K grades cannot tell apart answers that differ by less than 5/(K - 1) requirements, whatever it sees:
        its sensitivity is held at the smallest whole step that a perfect judge with its scale sees.
        """
        limits: tuple[Limit, ...] = getattr(self, kind)
        if kind != "grade" or grades is None:
            return limits
        least = ceil(LADDER_TOP / (grades - 1))
        moved = [limit.model_copy(update={"at": _coarser(limit, least)}) for limit in limits]
        strictest: dict[tuple[str, str], Limit] = {}
        for limit in moved:
            known = strictest.get(limit.key)
            if known is None or limit.implies(known):
                strictest[limit.key] = limit
        return tuple(strictest.values())

    def accepting_level(self, limit: Limit, limits: tuple[Limit, ...]) -> float:
        """Returns the error at which a limit, or a need of its cures, may pass.

        All essential limits have to be met, so each may err as often as the whole decision. If a limit can be met in
        several ways that do not include each other, these ways share that error.
        """
        held = [other for other in limits if other.essential and not other.cures]
        ways = sum(
            any(need.measure != limit.measure and not any(other.implies(need) for other in held) for need in cure.needs)
            for cure in limit.cures
        )
        return self.accepts / (1 + ways)

    def refusing_level(self, limits: tuple[Limit, ...]) -> float:
        """Returns the error at which a limit, or a need, may fail: one failure refuses, so all of them share it."""
        tests = sum(
            max([1, *(len(cure.needs) for cure in limit.cures)])
            for limit in limits
            if limit.essential and limit.refuses
        )
        return self.refuses / max(1, tests)


def _coarser(limit: Limit, least: int) -> str:
    steps = limit.measure == "target-sensitivity" and limit.at
    return f"{max(float(limit.at), min(least, LADDER_TOP)):g}" if steps else limit.at
