"""Texts that were written elsewhere, in place of texts that would be written here. They get the same checks."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from umpirical.datasets.readers import READERS, Source, format_of, missing_column
from umpirical.datasets.values import is_missing, plain_text, written_text
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import Stimulus
from umpirical.stimuli.generation.commissions import Commission
from umpirical.stimuli.generation.plan import Skipped

NEEDED = ("test", "task", "response", "text")
"""Columns of a file of texts: the test, the original, and the text itself. `target` is optional."""

NO_TEXT = "no text is given for it"


@dataclass(frozen=True, slots=True)
class GivenTexts:
    """The texts of one file."""

    file: str = ""
    texts: Mapping[str, Mapping[tuple[str, str], Mapping[str, str]]] = field(default_factory=dict)
    """Maps test, and task and response of the original, to the texts by target."""
    repeated: int = 0
    """Texts that are not used: an earlier one has the same test, original and target."""

    def __bool__(self) -> bool:
        return bool(self.texts)

    def of(self, test: str, original: Stimulus) -> Mapping[str, str]:
        return self.texts.get(test, {}).get((original.task, original.candidates[0]), {})

    def notes(self, originals: Iterable[Stimulus]) -> Iterator[str]:
        """Yields what was read, and what is of no use."""
        known = {(original.task, original.candidates[0]) for original in originals}
        for test, texts in self.texts.items():
            counts = Counter[bool]()
            for original, by_target in texts.items():
                counts[original in known] += len(by_target)
            lost = f"; {counts[False]:,} have no original in the sample" if counts[False] else ""
            yield f"{test}: {counts.total():,} texts given in {self.file}{lost}"
        if self.repeated:
            yield f"{self.file}: {self.repeated:,} texts repeat an earlier test, original and target, and are not used"


def read_given(folder: Path, name: str, names: Mapping[str, str], tests: Sequence[str]) -> GivenTexts:
    """Reads a file of texts. `names` are other names of tests; every test has to be one of `tests`."""
    table = READERS.get(format_of(name, folder)).open(Source(folder / name, Path(name).name, written=name))
    found: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    repeated = 0
    for row in table.rows:
        for column in NEEDED:
            if column not in row.values:
                raise missing_column(column, row.values, where=row.place)
        values = {column: row.values.get(column) for column in (*NEEDED, "target")}
        test = names.get(str(values["test"]), str(values["test"]))
        if test not in tests:
            fix = f"remove its rows, or add it to stress.tests; tests: {', '.join(tests)}"
            raise ConfigError(f"{test[:80]!r} is not a test of this study with texts", where=row.place, fix=fix)
        if is_missing(values["text"]):
            raise ConfigError("the text is empty", where=row.place, fix="remove the row")
        task, response, text = (_text(values[column], row.place) for column in ("task", "response", "text"))
        target = "" if is_missing(values["target"]) else plain_text(values["target"])
        held = found.setdefault(test, {}).setdefault((task, response), {})
        repeated += held.setdefault(target, text) != text
    return GivenTexts(Path(name).name, found, repeated)


def _text(value: object, place: str) -> str:
    try:
        return "" if value is None else written_text(value)
    except ValueError as error:
        raise ConfigError(str(error), where=place) from None


def with_given(
    commissions: Iterable[Commission], skipped: Iterable[Skipped], given: GivenTexts
) -> tuple[list[Commission], list[Skipped]]:
    """Returns commissions with the texts that are given for them. A test with any such text is not written here."""
    kept: list[Commission] = []
    left = list(skipped)
    for commission in commissions:
        test, source = commission.perturbation.name, commission.source
        if test not in given.texts:
            kept.append(commission)
            continue
        found = _chosen(commission, given.of(test, source))
        if isinstance(found, str):
            left.append(Skipped(test, source.id, found))
        else:
            kept.append(found)
    return kept, left


def _chosen(commission: Commission, texts: Mapping[str, str]) -> Commission | str:
    """Returns the commission with its text, or why it has none."""
    labels, keeps = commission.terms.scale.labels, commission.perturbation.expectation == "same-verdict"
    if not texts:
        return NO_TEXT
    target = next(iter(texts))
    if commission.perturbation.expectation == "given-label":
        target = commission.target if commission.target in texts else ""
        if not target:
            return NO_TEXT
    elif not keeps and target and target not in labels:
        return "the target of the text is not a label of the scale"
    elif not keeps and target == commission.source.gold:
        return "the target of the text is the label of its original"
    # A text is there or not: it is tried once.
    terms = replace(commission.terms, temperatures=commission.terms.temperatures[:1], tries=1)
    wanted = "" if keeps else target or commission.target
    return replace(commission, terms=terms, given=texts[target], target=wanted, examples=(), example_label="")
