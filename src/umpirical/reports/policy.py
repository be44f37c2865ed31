"""Policies: the checks that a judge has to pass for one use, as data.

Every protocol ships its policies as files in its folder `policies`, and a user's own is a file of the same form. A
protocol has a `Shelf` for them: it finds a shipped policy by its name, and reads a user's file or mapping.
"""

import json
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError, StoreError, UsageError
from umpirical.domain.renamed import now_called
from umpirical.domain.scales import JudgeKind
from umpirical.measures.catalogue import MEASURES
from umpirical.reports.record import Strict
from umpirical.store.files import inside
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml
from umpirical.text.problems import first_problem, plain_problem

LADDER_TOP = 5
"""Requirements between the best answer of the ladder and the worst."""

EACH_PART = "each-part"
"""In place of a step: every part of the test cases is checked against the threshold, and the worst decides."""

Kind = Literal["at_most", "at_least"]


def at(stratum: str) -> str:
    """Says which part of the design a check is about, after its title.

    >>> at("5"), at("each-part"), at("+200%"), at("")
    (' at a 5-requirement difference', ' in the worst part', ' at +200% length', '')
    """
    if stratum == EACH_PART:
        return " in the worst part"
    if stratum.replace(".", "", 1).isdecimal():
        return f" at a {stratum}-requirement difference" if float(stratum) else " at equal quality"
    return f" at {stratum}{' length' if stratum.endswith('%') else ''}" if stratum else ""


def step_text(value: Any) -> Any:  # noqa: ANN401  # whatever the file holds
    """A step may be written as a number."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value


class Condition(Strict):
    """A measure and the threshold it is checked against."""

    measure: str = Field(description="The measure's name, as in docs/reference/measures.md.")
    at: Annotated[str, BeforeValidator(step_text)] = Field(
        default="",
        description="The part of the design: a difference in requirements, such as 5, or each-part for the worst part "
        "of the test cases. Default: the whole.",
    )
    at_most: float | None = Field(default=None, ge=-1, le=100, description="The highest value that passes.")
    at_least: float | None = Field(default=None, ge=-1, le=100, description="The lowest value that passes.")

    @model_validator(mode="after")
    def _one_side(self) -> "Condition":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"{self.measure} needs either at_most or at_least")
        if self.at == EACH_PART and self.at_most is None:
            raise ValueError(f"{self.measure} needs at_most, because a check on each part counts failures")
        return self

    @property
    def kind(self) -> Kind:
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
    """A recommended use that compensates for a check that does not pass."""

    way: str = Field(description="What to do, in a sentence.")
    needs: tuple[Condition, ...] = Field(default=(), description="Checks that must pass for it to work.")


class Check(Condition):
    """One check of a policy, and the words that go with it."""

    essential: bool = Field(default=True, description="Whether a judge must pass it, or compensate for it, to be used.")
    refuses: bool = Field(
        default=True,
        description="Whether failing it counts against the judge. If not, failing it only leaves the verdict open.",
    )
    cures: tuple[Cure, ...] = Field(
        default=(), description="Recommended uses that compensate for not passing it, the best first."
    )
    unmeasured: str = Field(
        default="",
        description="How to use the judge if the design does not measure this. Empty if it must be measured.",
    )
    good_for: str = Field(default="", description="Said about a judge that passes it.")
    not_for: str = Field(default="", description="Said about a judge that does not pass it.")


def look_share(look: int) -> float:
    """Returns the share of the error rates that a look may use: .6, .24, .096 and so on, which come to 1 together.

    Each look gives chance one more try. The first has most of the error, since most judges are looked at once.
    """
    return 0.6 * 0.4 ** (look - 1)


class NamedPolicy(Strict):
    """Whatever a protocol calls a policy."""

    policy: str = Field(description="Its name.")


class Policy(NamedPolicy):
    """The checks for one use of judges."""

    about: str = Field(description="The use it is for.")
    accepts: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges exactly at a threshold are accepted."
    )
    refuses: float = Field(
        default=0.05, gt=0, lt=0.5, description="At most this share of judges that meet every threshold are refused."
    )
    look: int = Field(
        default=1, ge=1, description="1 for a first run, more for a follow-up. All of them share the error rates."
    )
    compare: tuple[Check, ...] = Field(default=(), description="The checks for a judge that compares two answers.")
    grade: tuple[Check, ...] = Field(default=(), description="The checks for a judge that grades one answer.")

    def at_look(self, look: int) -> "Policy":
        """Returns the same policy for a follow-up, or for a first look."""
        return self.model_copy(update={"look": look})

    @model_validator(mode="after")
    def _once(self) -> "Policy":
        for checks in (self.compare, self.grade):
            keys = [check.key for check in checks]
            if doubled := [key for key in keys if keys.count(key) > 1]:
                raise ValueError(f"{doubled[0][0]} is checked twice")
        return self

    def checks(self, kind: JudgeKind, *, grades: int | None = None) -> tuple[Check, ...]:
        """Returns the checks of a kind of judge.

        A judge of K grades cannot tell apart answers that differ by less than 5/(K - 1) requirements, whatever it sees:
        its sensitivity is held at the smallest whole step that a perfect judge with its scale sees.
        """
        checks: tuple[Check, ...] = getattr(self, kind)
        if kind != "grade" or grades is None:
            return checks
        least = ceil(LADDER_TOP / (grades - 1))
        moved = [check.model_copy(update={"at": _coarser(check, least)}) for check in checks]
        strictest: dict[tuple[str, str], Check] = {}
        for check in moved:
            known = strictest.get(check.key)
            if known is None or check.implies(known):
                strictest[check.key] = check
        return tuple(strictest.values())

    def accepting_level(self, check: Check, checks: tuple[Check, ...]) -> float:
        """Returns the error at which a check, or a need of its cures, may pass.

        All essential checks have to be met, so each may err as often as the whole decision. If a check can be met in
        several ways that do not include each other, these ways share that error.
        """
        held = [other for other in checks if other.essential and not other.cures]
        ways = sum(
            any(need.measure != check.measure and not any(other.implies(need) for other in held) for need in cure.needs)
            for cure in check.cures
        )
        return self.accepts * look_share(self.look) / (1 + ways)

    def refusing_level(self, checks: tuple[Check, ...]) -> float:
        """Returns the error at which a check, or a need, may fail: one failure refuses, so all of them share it."""
        tests = sum(
            max([1, *(len(cure.needs) for cure in check.cures)])
            for check in checks
            if check.essential and check.refuses
        )
        return self.refuses * look_share(self.look) / max(1, tests)


def _coarser(check: Check, least: int) -> str:
    steps = check.measure == "target-sensitivity" and check.at
    return f"{max(float(check.at), min(least, LADDER_TOP)):g}" if steps else check.at


# What a user writes


class WayEntry(Strict):
    """A recommended use. In a policy that extends another, only what differs."""

    way: str | None = Field(default=None, description="What to do, in a sentence.")
    needs: tuple[Condition, ...] | None = Field(default=None, description="Checks that must pass for it to work.")


class CheckEntry(Strict):
    """A check. In a policy that extends another, only what differs."""

    measure: str
    at: Annotated[str, BeforeValidator(step_text)] = ""
    at_most: float | None = None
    at_least: float | None = None
    essential: bool | None = None
    refuses: bool | None = None
    cures: tuple[str, ...] | None = Field(default=None, description="Names of recommended uses, the best first.")
    unmeasured: str | None = None
    good_for: str | None = None
    not_for: str | None = None
    omit: bool = Field(default=False, description="Removes a check of the policy that this one extends.")


class PolicyFile(Strict):
    """What a user writes."""

    policy: str = Field(description="A name for the policy.")
    about: str = Field(default="", description="The use it is for.")
    extends: str | None = Field(default=None, description="The shipped policy it starts from.")
    accepts: float | None = Field(
        default=None, description="At most this share of judges exactly at a threshold are accepted."
    )
    refuses: float | None = Field(
        default=None, description="At most this share of judges that meet every threshold are refused."
    )
    ways: dict[str, WayEntry] = Field(
        default={}, description="Recommended uses that compensate for a check that does not pass, by name."
    )
    compare: tuple[CheckEntry, ...] = Field(default=(), description="Checks for judges that compare two answers.")
    grade: tuple[CheckEntry, ...] = Field(default=(), description="Checks for judges that grade one answer.")


Parts = dict[str, Any]
"""A policy file with everything that it extends: `ways` by name, checks by measure and part."""


def shipped_policy(package: str, name: str) -> YamlDocument:
    """Returns the file of a policy that a protocol ships."""
    text = (files(package) / "policies" / f"{name}.yaml").read_text(encoding="utf-8")
    return parse_yaml(text, name=f"{name}.yaml")


PolicyT = TypeVar("PolicyT", bound=NamedPolicy)


class Shelf(ABC, Generic[PolicyT]):
    """The policies of a protocol: the shipped ones, in its folder `policies`, and whatever a user writes."""

    unnamed: ClassVar[str] = "own"
    """What a policy is called that is given as a mapping without a name."""

    def __init__(self, package: str, *names: str, of: str = "", renamed: Mapping[str, str] | None = None) -> None:
        self.package = package
        self.names = names
        """The shipped policies; the first is the default."""
        self.of = of
        """Whose policies they are, in words; empty for those that `umpirical schema policy` describes."""
        self.renamed = renamed or {}
        """Old names of shipped policies, and the new ones."""
        self.preset = cache(self._preset)

    @property
    @abstractmethod
    def file(self) -> type[Strict]:
        """The model of a policy file."""

    @abstractmethod
    def resolved(self, document: YamlDocument) -> PolicyT:
        """Returns the policy in a file, with everything that it takes over from a shipped one."""

    def refuse_unknown(self, document: YamlDocument) -> None:
        """Raises ConfigError for a check on a measure that does not exist."""

    def schema(self) -> str:
        """Returns the JSON Schema of a policy file."""
        schema = self.file.model_json_schema()
        if "extends" in schema["properties"]:
            schema["properties"]["extends"]["description"] += f": {', '.join(self.names)}."
        return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=1) + "\n"

    def _preset(self, name: str = "") -> PolicyT:
        """Returns a shipped policy; by default the first."""
        return self.read(self.shipped(name or self.names[0]))

    def shipped(self, name: str) -> YamlDocument:
        return shipped_policy(self.package, name)

    def chosen(self, chosen: str | Mapping[str, Any], folder: Path = Path(), *, outside: bool = False) -> PolicyT:
        """Returns a shipped policy by its name, the one in a file, or the one in a mapping with the keys of a file.

        A file that a study names has to be inside the study's folder; one that a person names may be anywhere.
        """
        if isinstance(chosen, str) and chosen in self.names:
            return self.preset(chosen)
        if isinstance(chosen, str) and chosen in self.renamed:
            raise UsageError(f"the policy {chosen!r} is called {self.renamed[chosen]!r} now", fix="use the new name")
        document = self._found(chosen, folder, outside=outside) if isinstance(chosen, str) else self._written(chosen)
        policy = self.read(document)
        self.refuse_unknown(document)
        if name := self.forgery(policy):
            raise UsageError(
                f"the policy is named {policy.policy!r:.60}, but it is not the shipped policy {name}",
                fix="choose another name for your policy",
            )
        return policy

    def read(self, document: YamlDocument) -> PolicyT:
        """Returns the policy in a document. Raises UsageError if it is none, with what to do."""
        try:
            return self.resolved(document)
        except ValidationError as error:
            problem = error.errors()[0]
            renamed = now_called(problem["loc"][-1]) if problem["type"] == "extra_forbidden" else ""
            if self.of:
                known = ", ".join(_known(self.file, error.errors()[0]["loc"]))
                raise UsageError(f"policy: {first_problem(error)}", fix=renamed or f"its keys: {known}") from None
            raise ConfigError(
                first_problem(error) if problem["loc"] else plain_problem(problem),
                where=document.where(tuple(problem["loc"])),
                fix=renamed or "see `umpirical schema policy` for the keys",
            ) from None

    # A policy in a record: whether it is the shipped one whose name it has.

    def asked(self, policy: PolicyT) -> PolicyT:
        """Returns what a policy asks, without what a run adds to it."""
        return policy

    def digest(self, policy: PolicyT) -> str:
        """Returns the digest of everything that a policy asks."""
        return digest("policy", self.asked(policy).model_dump(mode="json"))

    def ships(self, policy: PolicyT) -> bool:
        """Whether this version ships the policy, under that name."""
        return policy.policy in self.names and self.digest(policy) == self.digest(self.preset(policy.policy))

    def words(self, policy: PolicyT) -> str:
        """Returns the policy's name and digest, and says so if it is not a shipped one."""
        return policy_words(policy.policy, self.digest(policy), shipped=self.ships(policy))

    def forgery(self, policy: PolicyT) -> str:
        """Returns the shipped policy whose name a policy has without asking the same; empty if it has none."""
        if self.ships(policy):
            return ""
        return next((name for name in self.names if _looks_like(policy.policy, name)), "")

    def refuse_forged(self, policy: PolicyT) -> None:
        """Raises StoreError for a policy that a record has under the name of a shipped one."""
        if name := self.forgery(policy):
            raise StoreError(
                f"the record's policy {policy.policy!r:.60} is not the policy {name} that this version ships: "
                f"its digest is {self.digest(policy)[:16]}, not {self.digest(self.preset(name))[:16]}",
                fix=f"decide again with --policy {name} in `report` or `gate`, or use the version that wrote it",
            )

    def _found(self, name: str, folder: Path, *, outside: bool) -> YamlDocument:
        if self.of:
            path = Path(name) if outside else inside(folder, name, what="policy")
            if not path.is_file():
                raise UsageError(
                    f"no policy file {name!r} for {self.of}", fix="name an existing file, or omit --policy"
                )
            return load_yaml(path)
        names = ", ".join(self.names)
        if not name.endswith((".yaml", ".yml")):
            near = get_close_matches(name, self.names, n=1)
            hint = f"did you mean {near[0]}? Otherwise, " if near else ""
            raise UsageError(f"unknown policy {name!r}", fix=f"{hint}name a .yaml file or one of {names}")
        path = Path(name) if outside else inside(folder, name, what="policy")
        if not path.is_file():
            raise UsageError(f"no policy file {name}", fix=f"create it, or choose one of {names}")
        return load_yaml(path)

    def _written(self, policy: Mapping[str, Any]) -> YamlDocument:
        """Returns a policy that was given as a mapping, as the file that it would be; a mapping needs no name."""
        try:
            return parse_yaml(json.dumps({"policy": self.unnamed, **policy}, indent=1), name="policy")
        except TypeError as error:
            raise UsageError(
                f"the policy must be plain YAML data: {error}", fix="see docs/decide/policies.md for its keys"
            ) from None


def policy_words(name: str, digest: str, *, shipped: bool) -> str:
    """Names a policy so that nobody takes it for another.

    >>> policy_words("ours", "0123456789abcdef0123456789abcdef", shipped=False)
    'ours (not a shipped policy), digest 0123456789abcdef'
    """
    return f"{name}{'' if shipped else ' (not a shipped policy)'}, digest {digest[:16]}"


_ALIKE = str.maketrans("1l0", "iio")


def _spelled(name: str) -> str:
    """Returns a name as a reader takes it, who sees neither case nor width, accents nor punctuation."""
    seen = unicodedata.normalize("NFKD", name).casefold()
    return "".join(char for char in seen if char.isalnum()).translate(_ALIKE)


def _looks_like(name: str, other: str) -> bool:
    """Whether a reader may take a name for another: a letter of another alphabet may look like any."""
    seen, meant = _spelled(name), _spelled(other)
    strange = [not char.isascii() for char in seen]
    if len(seen) != len(meant) or all(strange):
        return False
    return all(odd or one == two for odd, one, two in zip(strange, seen, meant, strict=True))


def _known(model: type[BaseModel], place: Sequence[int | str]) -> list[str]:
    """Returns the keys that are known at a place of a policy file."""
    for part in place[:-1]:
        field = model.model_fields.get(str(part))
        inner = field and next((one for one in get_args(field.annotation) if isinstance(one, type)), None)
        if inner is not None and issubclass(inner, BaseModel):
            model = inner
    return list(model.model_fields)


def refuse_unknown(measures: Iterable[str], document: YamlDocument) -> None:
    """Raises ConfigError for a measure that is not installed."""
    for name in measures:
        if name not in MEASURES.names():
            raise ConfigError(
                f"unknown measure {name!r}", where=document.name, fix="see docs/reference/measures.md for the list"
            )


class CheckShelf(Shelf[Policy]):
    """Policies that list checks for judges that compare and for judges that grade."""

    file = PolicyFile

    def asked(self, policy: Policy) -> Policy:
        """A follow-up asks the same of a judge."""
        return policy.at_look(1)

    def resolved(self, document: YamlDocument) -> Policy:
        """Puts the ways of use in the place of their names."""
        parts = self._parts(PolicyFile.model_validate(document.data), document)
        whole = dict(parts)
        for kind in ("compare", "grade"):
            whole[kind] = [
                {**entry, "cures": [_way(parts["ways"], name) for name in entry.get("cures", ())]}
                for entry in parts[kind].values()
            ]
        del whole["ways"]
        return Policy.model_validate({"about": "", **whole})

    def refuse_unknown(self, document: YamlDocument) -> None:
        """Refuses a measure that does not exist: it would never be measured, and leave every decision open."""
        file = PolicyFile.model_validate(document.data)
        needs = [need.measure for way in file.ways.values() for need in way.needs or ()]
        refuse_unknown((*(check.measure for check in (*file.compare, *file.grade)), *needs), document)

    def _parts(self, file: PolicyFile, document: YamlDocument) -> Parts:
        base: Parts = {"ways": {}, "compare": {}, "grade": {}}
        if file.extends is not None:
            if file.extends not in self.names:
                raise ConfigError(
                    f"extends: unknown policy {file.extends!r}",
                    where=document.where(("extends",)),
                    fix=f"choose one of {', '.join(self.names)}",
                )
            shipped = self.shipped(file.extends)
            base = self._parts(PolicyFile.model_validate(shipped.data), shipped)
        own = {name: value for name in ("policy", "about", "accepts", "refuses") if (value := getattr(file, name))}
        return {
            **base,
            **own,
            "ways": merged(base["ways"], [(name, _given(way)) for name, way in file.ways.items()]),
            "compare": _checks(base["compare"], file.compare, document),
            "grade": _checks(base["grade"], file.grade, document),
        }


def _checks(base: Mapping[Any, Parts], entries: Sequence[CheckEntry], document: YamlDocument) -> dict[Any, Parts]:
    omitted = {(entry.measure, entry.at) for entry in entries if entry.omit}
    if unknown := omitted - base.keys():
        raise ConfigError(
            f"cannot omit {min(unknown)[0]}: the policy does not check it", where=document.where(("compare",))
        )
    kept = {key: entry for key, entry in base.items() if key not in omitted}
    return merged(kept, [((entry.measure, entry.at), _given(entry)) for entry in entries if not entry.omit])


def merged(
    base: Mapping[Any, Parts],
    own: Sequence[tuple[Any, Parts]],
    sides: frozenset[str] = frozenset({"at_most", "at_least"}),
) -> dict[Any, Parts]:
    """Returns entries of a policy with those of a policy that extends it, by their keys.

    `sides` are the keys of a check's value: what is given of them replaces them all.
    """
    found = dict(base)
    for key, entry in own:
        known = found.get(key, {})
        found[key] = {k: v for k, v in known.items() if not (k in sides and sides & entry.keys())} | entry
    return found


def _given(entry: Strict) -> Parts:
    return entry.model_dump(exclude_none=True, exclude={"omit"})


def _way(ways: Mapping[str, Parts], name: str) -> Cure:
    if name not in ways:
        raise UsageError(f"unknown recommended use {name!r}", fix=f"known: {', '.join(ways) or 'none'}")
    return Cure.model_validate(ways[name])
