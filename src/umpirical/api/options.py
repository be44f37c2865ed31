"""The keywords of the Python API, and the terms that they stand for.

They are declared once, as fields of a dataclass, and spelled out in the signature of each function that takes them.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from umpirical.api.data import Data
from umpirical.domain.bills import dollars_of
from umpirical.domain.errors import SpendRefused, UsageError
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.models.money import Ledger, booked_line
from umpirical.models.prices import TokenPrices
from umpirical.progress import tell, watch_run
from umpirical.runs.executor import LOCAL, Unwatched
from umpirical.study.estimate import PlanEstimate
from umpirical.study.preflight import Preflight, PreflightPlan
from umpirical.study.run import CallOptions, Lose, Terms, Watch
from umpirical.study.spending import enough
from umpirical.study.trust import agree_if

P = ParamSpec("P")
OptionsT = TypeVar("OptionsT")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Scale = GradeScale | Sequence[str] | tuple[float, float]
"""What a judge may answer: labels from lowest to highest, the two ends of an interval, or any `GradeScale`."""

FOLDER = "umpirical-runs"
"""Where runs are kept, unless a folder is named."""


@dataclass(frozen=True, kw_only=True)
class TermKeywords:
    """What a measurement may spend, how its calls are made, and what is trusted."""

    max_cost: Decimal | float | str | None = None
    prices: Mapping[str, tuple[float, float]] | None = None
    allow_unpriced: bool = False
    executor: str = LOCAL
    processes: int | None = None
    progress: bool = True
    preflight: bool = True
    wait_for_server: float = 15.0
    trust: bool = False

    def terms(self, lose: Lose, *, fresh: bool = False) -> Terms:
        """Returns the terms of a measurement; `lose` receives judges that cannot be measured."""
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"invalid number of processes: {self.processes}", fix="pass processes=1 or more")
        given = (self.prices or {}).items()
        return Terms(
            consent=self.consent,
            watch=self._watch,
            agree=agree_if(trust=self.trust),
            prices={name: TokenPrices(*(Decimal(str(price)) for price in each)) for name, each in given},
            allow_unpriced=self.allow_unpriced,
            calls=CallOptions(
                self.executor,
                self.processes,
                tell if self.progress else lambda _: None,
                patience=60 * self.wait_for_server,
            ),
            fresh=fresh,
            preflight=_Preflights(self) if self.preflight else None,
            lose=lose,
        )

    def consent(self, estimate: PlanEstimate) -> Decimal | None:
        """Returns the budget; raises SpendRefused, with the price, if calls may be billed and there is none."""
        cap = in_dollars("max_cost", self.max_cost)
        if estimate.bound and cap is None:
            booked = f" ({booked_line(estimate.booked, None)} already)" if estimate.booked.total else ""
            raise SpendRefused(
                f"{estimate.calls:,} calls may cost up to ${estimate.bound}{booked}, but no budget is set",
                fix=f"pass max_cost={enough(estimate.booked, estimate.bound)}; with less, the run stops early",
            )
        return cap

    def _watch(self, name: str, total: int, ledger: Ledger) -> Watch:
        return watch_run(name, total, ledger) if self.progress else Unwatched()


@dataclass(frozen=True, kw_only=True)
class StudyKeywords(TermKeywords):
    """A study of one judge, where there is no study file."""

    seed: int = 1
    folder: str | Path = FOLDER
    concurrency: int = 16
    deadline: float | None = None


@dataclass(frozen=True, kw_only=True)
class DatasheetKeywords(StudyKeywords):
    """What `datasheet` takes besides the judge."""

    size: str | None = None
    until: str | None = None
    design: str | None = None
    max_calls: int | None = None
    policy: str | Mapping[str, Any] = ""
    variants: Sequence[str] = ()
    repeats: int = 1
    name: str | None = None
    kind: JudgeKind | None = None
    scale: Scale | None = None
    answer: Mapping[str, Any] | Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class StressKeywords(StudyKeywords):
    """What `stress` takes besides the judge and the data."""

    rubric: str = ""
    instruction: str = ""
    response: str | None = None
    label: str | None = None
    task: str | None = None
    scale: Scale | None = None
    tests: Sequence[str] | None = None
    repeats: int = 3
    sample: int | None = None
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class PairsKeywords(StudyKeywords):
    """What `pairs` takes besides the judge and the data."""

    chosen: str | None = None
    rejected: str | None = None
    task: str | None = None
    cluster: str | None = None
    strata: Sequence[str] | None = None
    edits: Sequence[str] | None = None
    policy: Mapping[str, Any] | None = None
    repeats: int = 1
    sample: int | None = None
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunKeywords(TermKeywords):
    """What `run` takes besides the study."""

    judges: Sequence[str] = ()
    outside: bool = False
    max_calls: int | None = None
    fresh: bool = False


class _Preflights:
    """Holds preflights under the caller's terms: whoever agrees to everything agrees to a few calls of it."""

    def __init__(self, keywords: TermKeywords) -> None:
        self._keywords = keywords

    def agree(self, _: Sequence[PreflightPlan], whole: PlanEstimate) -> Decimal | None:
        return self._keywords.consent(whole)

    def show(self, found: Preflight) -> None: ...


def in_dollars(name: str, given: Decimal | float | str | None) -> Decimal | None:
    """Returns an amount in US dollars; None if none is given. Raises UsageError for what is no amount."""
    amount = None if given is None else dollars_of(given)
    if amount is None and given is not None:
        raise UsageError(f"invalid {name}: {given!r}", fix=f"give an amount in US dollars, for example {name}=5")
    return amount


# Functions with their keywords spelled out.


class OfJudge(Protocol[P, T_co]):
    """A function of a judge, with keywords."""

    def __call__(self, judge: object, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class OfData(Protocol[P, T_co]):
    """A function of a judge and data, with keywords."""

    def __call__(self, judge: object, data: Data, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class OfStudy(Protocol[P, T_co]):
    """A function of a study, with keywords."""

    def __call__(self, study: str | Path, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class OfFile(Protocol[P, T_co]):
    """A function of a file, with keywords."""

    def __call__(self, file: Data, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


def of_judge(options: Callable[P, OptionsT]) -> Callable[[Callable[[object, OptionsT], T]], OfJudge[P, T]]:
    """Has a function of a judge and options take the options as keywords, as their dataclass declares them."""
    return lambda function: _spelled_out(function, options)


def of_data(
    options: Callable[P, OptionsT],
) -> Callable[[Callable[[object, Data, OptionsT], T]], OfData[P, T]]:
    """As `of_judge`, for a function of a judge and data."""
    return lambda function: _spelled_out(function, options)


def of_study(options: Callable[P, OptionsT]) -> Callable[[Callable[[str | Path, OptionsT], T]], OfStudy[P, T]]:
    """As `of_judge`, for a function of a study."""
    return lambda function: _spelled_out(function, options)


def of_file(options: Callable[P, OptionsT]) -> Callable[[Callable[[Data, OptionsT], T]], OfFile[P, T]]:
    """As `of_judge`, for a function of a file."""
    return lambda function: _spelled_out(function, options)


def _spelled_out(function: Callable[..., T], options: Any) -> Any:  # noqa: ANN401  # typed by whoever calls this
    """Returns a function whose last parameter is spelled out: a keyword for each field of the dataclass `options`."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[:-1]
    # The keywords of a dataclass come before those of the one that it extends.
    depths = {
        name: depth for depth, base in enumerate(options.__mro__) for name in vars(base).get("__annotations__", ())
    }
    keywords = sorted(inspect.signature(options).parameters.values(), key=lambda each: depths[each.name])
    spelled_out = signature.replace(parameters=[*own, *keywords])

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> T:  # noqa: ANN401  # as in the signature
        try:
            given = spelled_out.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        return function(*(given.pop(each.name) for each in own), options(**given))

    called.__signature__ = spelled_out  # type: ignore[attr-defined]  # where inspect looks for it
    return called
