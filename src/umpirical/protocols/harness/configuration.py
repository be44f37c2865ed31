"""A configuration of the Judge Reliability Harness, and what became of each of its keys.

It is a stranger's until it is read: it names files in its own folders only, and nothing in it is run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from umpirical.datasets.values import number_of
from umpirical.domain.errors import ConfigError
from umpirical.protocols.protocol import STUDY_FILE
from umpirical.store.yaml_files import YamlDocument, load_yaml

Fate = Literal["kept", "changed", "dropped"]

RUN = "admin"
DATASET, PERTURBATION, EVALUATION = f"{RUN}.dataset_config", f"{RUN}.perturbation_config", f"{RUN}.evaluation_config"
SYNTHETIC_DATA, STABILITY = "synthetic_data_params", "test_stochastic_stability_config"
AGENTS = "test_agent_perturbation_config"

DROPPED = {
    f"{RUN}.time_stamp": "every run names and dates itself, and the same command resumes it",
    f"{RUN}.test_debug_mode": f"the judges of {STUDY_FILE} are simulated: it costs nothing and needs no key",
    f"{RUN}.output_file_format": "a report is HTML, Markdown and JSON",
    f"{EVALUATION}.overwrite_results": "answers are kept and reused; --fresh asks again",
    f"{EVALUATION}.metric": "every measure that the scale allows is reported",
    f"{EVALUATION}.bootstrap_size": "intervals are computed from all items, with their clusters",
    f"{EVALUATION}.bootstrap_repetitions": "intervals are computed from all items, with their clusters",
    f"{EVALUATION}.get_cost_curves": "the report has cost and latency; umpirical compare shows judges side by side",
    f"{EVALUATION}.aggregation_reference_column": "agreement is measured with the label of each row",
    f"{SYNTHETIC_DATA}.rescore_sample_size": "the harness does not read it either",
    f"{STABILITY}.seed": "the study has one seed",
    f"{AGENTS}.max_summary_messages": "an editor reads a summary of all messages before the one that it edits",
    f"{AGENTS}.trace_messages": "every prompt and reply is recorded",
    f"{AGENTS}.pass_required": "a rewriting counts only if verifiers agree that it deserves its label",
    f"{AGENTS}.output": "the record is in generated/",
    f"{AGENTS}.autograder_template": "the judge's prompt is the built-in one",
}
"""Keys without a counterpart, and why there is none."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one key."""

    fate: Fate
    here: str
    """What stands in the study in its place; empty if nothing does."""
    why: str = ""

    @property
    def words(self) -> str:
        return "; ".join(filter(None, (self.here, self.why)))


class HarnessConfig:
    """A configuration, its folders, and what became of each of its keys so far."""

    def __init__(self, path: Path) -> None:
        self.document: YamlDocument = load_yaml(path)
        self.path = path
        self._values = {_dotted(place): (place, value) for place, value in _leaves(self.document.data, ())}
        self._told: dict[str, Told] = {}
        self._asked: set[str] = set()
        if RUN not in self.document.data:
            raise ConfigError(
                "not a configuration of the Judge Reliability Harness, which begins with admin",
                where=path.name,
                fix="name a file of data; a study file needs no init",
            )
        self.module = self.text(f"{RUN}.module_name") or "harness"
        self.root, self.data = self._folders()

    def _folders(self) -> tuple[Path, Path]:
        """Returns the harness's folder and that of the data: inputs/data/MODULE near the file, or the file's own."""
        if self.module != Path(self.module).name or self.module == "..":
            raise self.error(f"{RUN}.module_name", f"{self.module!r} is not the name of a folder")
        here = self.path.resolve().parent
        for root in (here, *here.parents[:3]):
            if (data := root / "inputs" / "data" / self.module).is_dir():
                return root, data
        return here, here

    # Reading values.

    def get(self, key: str) -> object:
        self._asked.add(key)
        found: object = self.document.data
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found

    def text(self, key: str) -> str:
        found = self.get(key)
        if isinstance(found, Mapping | list | bool):
            raise self.error(key, f"expected text, got {found!r:.60}")
        return "" if found is None else str(found).strip()

    def number(self, key: str, usual: float) -> float:
        found = self.get(key)
        number = usual if found in (None, "") else number_of(str(found))
        if number is None:
            raise self.error(key, f"expected a number, got {found!r:.60}")
        return number

    def count(self, key: str, usual: int) -> int:
        if (number := float(self.number(key, usual))) != int(number):
            raise self.error(key, f"expected a whole number, got {number}")
        return int(number)

    def names(self, key: str) -> list[str]:
        found = self.get(key)
        listed = [] if found in (None, "") else found if isinstance(found, list) else [found]
        if not all(isinstance(name, str) for name in listed):
            raise self.error(key, f"expected a list of names, got {found!r:.60}")
        return list(dict.fromkeys(listed))

    def mapping(self, key: str) -> Mapping[str, Any]:
        found = self.get(key)
        if found is not None and not isinstance(found, Mapping):
            raise self.error(key, f"expected a mapping, got {found!r:.60}")
        return {str(name): value for name, value in (found or {}).items()}

    def file(self, key: str, name: str, folder: Path) -> Path:
        """Returns a file that the configuration names, inside the folder that it may name files of."""
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise self.error(key, f"{name} is outside {folder}", fix="copy it into the folder")
        if not path.is_file():
            raise self.error(key, f"{folder} has no file {name}", fix="put it there, or remove the key")
        return path

    def error(self, key: str, message: str, *, fix: str = "") -> ConfigError:
        return ConfigError(f"{key}: {message}", where=self.document.where(tuple(key.split("."))), fix=fix)

    # Telling what became of them.

    def kept(self, key: str, here: str, why: str = "") -> None:
        self._tell(key, Told("kept", here, why))

    def changed(self, key: str, here: str, why: str) -> None:
        self._tell(key, Told("changed", here, why))

    def dropped(self, key: str, why: str) -> None:
        self._tell(key, Told("dropped", "", why))

    def _tell(self, key: str, told: Told) -> None:
        self._asked.add(key)
        self._told |= {leaf: told for leaf in self._values if _belongs(leaf, key) and leaf not in self._told}

    def report(self) -> Iterator[tuple[str, Told]]:
        """Yields every key of the file, in its order. A key that nothing has used counts as dropped."""
        for key, why in DROPPED.items():
            self.dropped(key, why)
        known = [*self._asked, *DROPPED]
        for leaf, (_, value) in self._values.items():
            near = get_close_matches(leaf, known, n=1, cutoff=0.85)
            hint = f"; did you mean {near[0]}?" if near and near[0] != leaf else ""
            why = "it is empty" if value in (None, "", [], {}) else f"unknown key{hint}"
            yield leaf, self._told.get(leaf, Told("dropped", "", why))


def _leaves(node: object, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yields every value with its place; a list counts as one value, unless it is one of mappings."""
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(node, Mapping):
        inner = ((str(key), value) for key, value in node.items())
    elif isinstance(node, list) and node and all(isinstance(each, Mapping) for each in node):
        inner = enumerate(node)
    found = False
    for step, value in inner:
        found = True
        yield from _leaves(value, (*place, step))
    if not found:
        yield place, node


def _dotted(place: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def _belongs(leaf: str, key: str) -> bool:
    return leaf == key or leaf.startswith((f"{key}.", f"{key}["))
