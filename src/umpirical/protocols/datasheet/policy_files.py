"""Policies as files: the shipped ones, and a user's own."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.policy import Condition, Cure, Policy, step_text
from umpirical.reports.record import Strict
from umpirical.store.files import inside
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml

DEFAULT = "ranking"

PRESETS = ("ranking", "adjudication", "ci-smoke", "claim")

ALIASES = {"release": "adjudication"}
"""Other names of shipped policies. A release is decided by single cases: those that got worse."""


class WayEntry(Strict):
    """A way of use; in a policy that extends another, only what differs."""

    way: str | None = Field(default=None, description="What to do, in a sentence.")
    needs: tuple[Condition, ...] | None = Field(default=None, description="What has to pass for it to work.")


class LimitEntry(Strict):
    """A limit; in a policy that extends another, only what differs."""

    measure: str
    at: Annotated[str, BeforeValidator(step_text)] = ""
    at_most: float | None = None
    at_least: float | None = None
    essential: bool | None = None
    refuses: bool | None = None
    cures: tuple[str, ...] | None = Field(default=None, description="Names of ways, the best first.")
    unmeasured: str | None = None
    good_for: str | None = None
    not_for: str | None = None
    omit: bool = Field(default=False, description="Leaves out a limit of the policy that this one extends.")


class PolicyFile(Strict):
    """What a user writes."""

    policy: str = Field(description="A name for the policy.")
    about: str = Field(default="", description="The use that it is for.")
    extends: str | None = Field(default=None, description=f"The shipped policy it starts from: {', '.join(PRESETS)}.")
    accepts: float | None = Field(default=None, description="At most this share of judges at a limit are accepted.")
    refuses: float | None = Field(default=None, description="At most this share of sound judges are refused.")
    ways: dict[str, WayEntry] = Field(default={}, description="Ways of use that make up for missing a limit, by name.")
    compare: tuple[LimitEntry, ...] = Field(default=(), description="Limits of judges that compare two answers.")
    grade: tuple[LimitEntry, ...] = Field(default=(), description="Limits of judges that grade one answer.")


Parts = dict[str, Any]
"""A policy file with everything that it extends: `ways` by name, limits by measure and part."""


def chosen_policy(chosen: str | Mapping[str, Any], folder: Path, *, outside: bool = False) -> Policy:
    """Returns a shipped policy by its name, the one in a file, or the one that a mapping with the keys of a file is.

    A file that a study names has to be inside the study's folder; one that a person names may be anywhere.
    """
    if not isinstance(chosen, str):
        return _known_policy(_written(chosen))
    name = ALIASES.get(chosen, chosen)
    if name in PRESETS:
        return preset(name)
    if not name.endswith((".yaml", ".yml")):
        near = get_close_matches(name, [*PRESETS, *ALIASES], n=1)
        hint = f"did you mean {near[0]}? Otherwise " if near else ""
        raise UsageError(f"no policy named {name}", fix=f"{hint}name a .yaml file, or one of {_names()}")
    path = Path(name) if outside else inside(folder, name, what="policy")
    if not path.is_file():
        raise UsageError(f"no policy file {name}", fix=f"create it, or name one of {_names()}")
    return _known_policy(load_yaml(path))


def _names() -> str:
    other = {name: alias for alias, name in ALIASES.items()}
    return ", ".join(f"{name} (or {other[name]})" if name in other else name for name in PRESETS)


def _known_policy(document: YamlDocument) -> Policy:
    policy = read_policy(document)
    _refuse_unknown(PolicyFile.model_validate(document.data), document)
    return policy


def _written(policy: Mapping[str, Any]) -> YamlDocument:
    """Returns a policy that was given as a mapping, as the file that it would be; a mapping needs no name."""
    try:
        return parse_yaml(json.dumps({"policy": "own", **policy}, indent=1), name="policy")
    except TypeError as error:
        raise UsageError(f"the policy is no plain data: {error}", fix="see docs/policies.md for its keys") from None


@cache
def preset(name: str = DEFAULT) -> Policy:
    """Returns a shipped policy."""
    return read_policy(_shipped(name))


def read_policy(document: YamlDocument) -> Policy:
    """Returns the policy in a file, with everything that it takes over from the one it extends."""
    try:
        return _resolved(_parts(PolicyFile.model_validate(document.data), document))
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{place}: {message}" if place else message,
            where=document.where(tuple(problem["loc"])),
            fix="umpirical schema policy  lists the keys",
        ) from None


def policy_schema() -> str:
    """Returns the JSON Schema of a policy file."""
    schema = PolicyFile.model_json_schema()
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=1) + "\n"


def _shipped(name: str) -> YamlDocument:
    text = (files("umpirical.protocols.datasheet") / "policies" / f"{name}.yaml").read_text(encoding="utf-8")
    return parse_yaml(text, name=f"{name}.yaml")


def _parts(file: PolicyFile, document: YamlDocument) -> Parts:
    base: Parts = {"ways": {}, "compare": {}, "grade": {}}
    if file.extends is not None:
        if file.extends not in PRESETS:
            raise ConfigError(
                f"extends: no shipped policy {file.extends!r}",
                where=document.where(("extends",)),
                fix=f"known: {', '.join(PRESETS)}",
            )
        shipped = _shipped(file.extends)
        base = _parts(PolicyFile.model_validate(shipped.data), shipped)
    own = {name: value for name in ("policy", "about", "accepts", "refuses") if (value := getattr(file, name))}
    return {
        **base,
        **own,
        "ways": _merged(base["ways"], [(name, _given(way)) for name, way in file.ways.items()]),
        "compare": _limits(base["compare"], file.compare, document),
        "grade": _limits(base["grade"], file.grade, document),
    }


def _limits(base: Mapping[Any, Parts], entries: Sequence[LimitEntry], document: YamlDocument) -> dict[Any, Parts]:
    omitted = {(entry.measure, entry.at) for entry in entries if entry.omit}
    if unknown := omitted - base.keys():
        raise ConfigError(f"{min(unknown)[0]} is not there to be omitted", where=document.where(("compare",)))
    kept = {key: entry for key, entry in base.items() if key not in omitted}
    return _merged(kept, [((entry.measure, entry.at), _given(entry)) for entry in entries if not entry.omit])


def _merged(base: Mapping[Any, Parts], own: Sequence[tuple[Any, Parts]]) -> dict[Any, Parts]:
    merged = dict(base)
    for key, entry in own:
        known = merged.get(key, {})
        # The other side of a limit is replaced with it.
        sides = {"at_most", "at_least"}
        merged[key] = {k: v for k, v in known.items() if not (k in sides and sides & entry.keys())} | entry
    return merged


def _given(entry: Strict) -> Parts:
    return entry.model_dump(exclude_none=True, exclude={"omit"})


def _resolved(parts: Parts) -> Policy:
    """Puts the ways of use in the place of their names."""
    whole = dict(parts)
    for kind in ("compare", "grade"):
        whole[kind] = [
            {**entry, "cures": [_way(parts["ways"], name) for name in entry.get("cures", ())]}
            for entry in parts[kind].values()
        ]
    del whole["ways"]
    return Policy.model_validate({"about": "", **whole})


def _way(ways: Mapping[str, Parts], name: str) -> Cure:
    if name not in ways:
        raise UsageError(f"no way of use named {name!r}", fix=f"known: {', '.join(ways) or 'none'}")
    return Cure.model_validate(ways[name])


def _refuse_unknown(file: PolicyFile, document: YamlDocument) -> None:
    """Refuses a measure that does not exist: it would never be measured, and leave every decision open."""
    needs = [need.measure for way in file.ways.values() for need in way.needs or ()]
    for name in (*(limit.measure for limit in (*file.compare, *file.grade)), *needs):
        if name not in MEASURES.names():
            raise ConfigError(f"no measure named {name}", where=document.name, fix="docs/measures.md lists them")
