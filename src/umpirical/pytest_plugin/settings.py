"""The settings of the pytest plugin, and what a test about a judge comes to."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

import pytest

COUNTED_AS = ("fail", "skip", "xfail")
"""How an inconclusive test counts."""


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: `--umpirical-max-cost` on the command line, `umpirical_max_cost` in the ini file."""

    name: str
    help: str
    metavar: str | None = None
    """None for a switch."""
    choices: tuple[str, ...] | None = None

    @property
    def ini(self) -> str:
        return f"umpirical_{self.name.replace('-', '_')}"

    def add_to(self, group: pytest.OptionGroup, parser: pytest.Parser) -> None:
        told = f"{self.help} (ini: {self.ini})"
        if self.metavar is None:
            group.addoption(f"--umpirical-{self.name}", action="store_true", default=None, dest=self.ini, help=told)
            parser.addini(self.ini, self.help, type="bool", default=False)
        else:
            more: dict[str, Any] = {"choices": self.choices} if self.choices else {"metavar": self.metavar}
            group.addoption(f"--umpirical-{self.name}", default=None, dest=self.ini, help=told, **more)
            parser.addini(self.ini, self.help, type="string", default="")


OPTIONS = (
    Option("folder", "folder for stored answers; default: .umpirical in the root directory", "DIR"),
    Option("report", "folder for datasheets; default: reports in that folder", "DIR"),
    Option("policy", "policy to check judges against: ranking, adjudication, claim, ci-smoke, or a file", "NAME"),
    Option("size", "ask this much: screen, paper, standard or full; default: ask until the verdict is reached", "SIZE"),
    Option(
        "max-cost",
        "spending cap per judge in US dollars; on the command line, it also limits the caps set in tests",
        "USD",
    ),
    Option(
        "inconclusive",
        "how an inconclusive test counts: fail (default), skip or xfail",
        "HOW",
        choices=COUNTED_AS,
    ),
    Option("strict", "require every check to pass, including those that a recommended use compensates for"),
    Option("no-ask", "make no calls: use stored answers; judges without enough of them are inconclusive"),
    Option("trust", "approve what judge files ask for, and answers from other machines"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a session. None where nothing was said."""

    folder: Path
    report: Path
    root: Path
    policy: str | None
    size: str | None
    max_cost: str | None
    ceiling: str | None
    """The most that any test may spend on a judge, whatever it says itself."""
    inconclusive: str
    strict: bool
    no_ask: bool
    trust: bool


def settings_of(config: pytest.Config) -> Settings:
    """Reads the settings. Raises pytest.UsageError for one that cannot be."""
    folder = _path(config, "umpirical_folder") or config.rootpath / ".umpirical"
    counted = _said(config, "umpirical_inconclusive") or COUNTED_AS[0]
    if counted not in COUNTED_AS:
        raise pytest.UsageError(f"invalid umpirical_inconclusive {counted!r} (choose {', '.join(COUNTED_AS)})")
    return Settings(
        folder=folder,
        report=_path(config, "umpirical_report") or folder / "reports",
        root=config.rootpath,
        policy=_said(config, "umpirical_policy"),
        size=_said(config, "umpirical_size"),
        max_cost=_said(config, "umpirical_max_cost"),
        ceiling=config.getoption("umpirical_max_cost"),
        inconclusive=counted,
        strict=bool(_said(config, "umpirical_strict")),
        no_ask=bool(_said(config, "umpirical_no_ask")),
        trust=bool(_said(config, "umpirical_trust")),
    )


def _said(config: pytest.Config, name: str) -> Any:  # noqa: ANN401  # text or a switch
    """Returns a setting: of the command line, or else of the ini file; None if neither has it."""
    given = config.getoption(name)
    return given if given is not None else config.getini(name) or None


def _path(config: pytest.Config, name: str) -> Path | None:
    """Returns a path, which is relative to where pytest was called, or to the root directory if the ini file has it."""
    given = config.getoption(name)
    if given is not None:
        return Path(config.invocation_params.dir, given)
    return Path(config.rootpath, said) if (said := config.getini(name)) else None


# What a test about a judge comes to, as plain data that a report of pytest can carry to another process.


Reliability = Literal["reliable", "not reliable", "inconclusive", "not measured"]
"""`not measured`: the judge could not be asked, or nobody agreed to the price."""


class Finding(NamedTuple):
    """What was found about one judge."""

    outcome: Reliability
    headline: str
    """Judge, decision and policy, in one line."""
    reason: str
    """What decides, in a few lines; empty for a judge that is reliable."""
    datasheet: str = ""
    """Path of the page; empty if there is none."""


FINDINGS = pytest.StashKey[list[dict[str, str]]]()
"""Findings, as plain data, of the phase of a test that has no report yet."""

RAISED = pytest.StashKey[dict[int, tuple[BaseException, Reliability]]]()
"""What assertions of a test have raised, by its id, and the outcome that it stands for. Kept, so that no id recurs."""


def end_test(item: pytest.Item, outcome: Reliability, reason: str, *, inconclusive: str) -> NoReturn:
    """Ends a test. `inconclusive` is how an inconclusive one counts: as a failure, as skipped, or as an xfail.

    Raises Failed, Skipped or XFailed.
    """
    __tracebackhide__ = True
    raised: BaseException = pytest.fail.Exception(reason, pytrace=False)
    if outcome == "inconclusive" and inconclusive == "skip":
        raised = pytest.skip.Exception(f"inconclusive: {reason}")
    elif outcome == "inconclusive" and inconclusive == "xfail":
        raised = pytest.xfail.Exception(f"inconclusive: {reason}")
    item.stash.setdefault(RAISED, {})[id(raised)] = (raised, outcome)
    raise raised
