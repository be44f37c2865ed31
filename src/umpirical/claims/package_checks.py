"""Checks a release package without its run: its files, that they agree, and what can be computed again from them.

A package is a stranger's. Nothing in it names a file to be read, and each file is read within limits.
"""

import hashlib
import json
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from umpirical.claims.documents import read_claim, sha256
from umpirical.claims.packages import (
    JUDGE,
    JUDGMENTS,
    LICENSES,
    MANIFEST,
    PROMPTS,
    REDACTED,
    STIMULI,
    Package,
    Question,
    RedactedQuestion,
    StimuliFile,
    documents_of,
    is_known,
    licenses_text,
    redacted_question,
)
from umpirical.claims.statement import absent_files, alike, read_judge, verify_claim
from umpirical.domain.digests import digest
from umpirical.domain.errors import StoreError, UmpiricalError
from umpirical.domain.long_work import counted
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Presented, Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import Judge, prompt_id, trial_id
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ADAPTERS
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import DecidesByPolicy, MakesAgain, Protocol
from umpirical.reports.facts import spec_record, unbalanced
from umpirical.reports.record import Record, Strict, redacted
from umpirical.runs.judgments import Facts, judgment_row
from umpirical.runs.plan import request_for
from umpirical.store.manifests import file_sha256
from umpirical.store.parquet import read_rows
from umpirical.store.schemas import (
    judgment_schema,
    presentation_from_row,
    stimulus_from_row,
    stimulus_row,
    trial_from_row,
)
from umpirical.study.verification import Check
from umpirical.text.json_texts import without_doubles
from umpirical.text.quoted import DIGEST

MOST_FILES = 100
LARGEST_MANIFEST, LARGEST_JSON, LARGEST = 1 << 20, 1 << 28, 1 << 31
"""Bytes of the manifest, of any other JSON file or line, and of the whole package."""
LARGEST_NUMBER = 1 << 63

FIX = "use the package as published"

T = TypeVar("T", bound=Strict)


class Mismatch(StoreError):
    """A part of a package that does not agree with another."""

    def __init__(self, message: str) -> None:
        super().__init__(message, fix=FIX)


@dataclass
class PackageReader:
    """A package while it is checked. What one check has read, the next ones use."""

    folder: Path
    not_checked: dict[str, str] = field(default_factory=dict)
    """What could not be checked, and why."""
    asked: dict[str, None] = field(default_factory=dict)
    """The questions that were rendered again, by id, in their order."""

    def checks(self) -> Iterator[Check]:
        """Yields one check after another. Damage in one part does not hide that of another."""
        yield (first := _check(MANIFEST, self._manifest))
        if not first.holds:
            return
        # What is not as listed may be a link or anything else: it is not opened.
        yield (files := _check("files", self._files))
        if not files.holds:
            return
        record, page, card, schema = documents_of(self.package.protocol)
        yield _check(record, self._record)
        yield _check(page, lambda: self._rendered(page, self.protocol.page))
        yield _check(card, lambda: self._rendered(card, self.protocol.card))
        yield _check(schema, lambda: self._same(schema, self.protocol.schema()))
        if self._has(JUDGE):
            yield _check(JUDGE, self._judge)
        yield _check(STIMULI, self._stimuli)
        if self._has(REDACTED):
            yield _check(REDACTED, self._redacted_prompts)
        if self._has(PROMPTS):
            yield _check(PROMPTS, self._prompts)
        if self._has(JUDGMENTS):
            yield _check(JUDGMENTS, self._judgments)
        for name in sorted(self.package.files):
            if name.endswith(".claim.json"):
                yield from self._claim(name)
        yield _check(LICENSES, lambda: self._same(LICENSES, licenses_text(self.package.licenses)))
        self._note_rest()

    # The manifest and the files

    @cached_property
    def package(self) -> Package:
        path = self.folder / MANIFEST
        return Package.model_validate(strict_json(_text(path, LARGEST_MANIFEST)))

    @cached_property
    def protocol(self) -> Protocol[Any, Any]:
        return PROTOCOLS.get(self.package.protocol)

    def _has(self, name: str) -> bool:
        return name in self.package.files

    def _manifest(self) -> str:
        package, names = self.package, list(self.package.files)
        if strange := [name for name in names if not is_known(name, self.protocol.name)]:
            raise Mismatch(f"{strange[0]!r:.100} is not the name of a file of a package")
        if len({name.casefold() for name in names}) < len(names):
            raise Mismatch("two files have names that differ only in case")
        if alone := [name for name in names if name.endswith(".claim.md") and f"{name[:-3]}.json" not in names]:
            raise Mismatch(f"{alone[0]} is listed without its claim")
        needed = {*documents_of(package.protocol), STIMULI, LICENSES, *([JUDGMENTS] if package.built_in else [])}
        needed |= {REDACTED} if JUDGE in names and self.renderer else set()
        needed |= {PROMPTS} if REDACTED in names and package.texts == "included" else set()
        if missing := sorted(needed - set(names)):
            raise Mismatch(f"it does not list {missing[0]}")
        if PROMPTS in names and package.texts == "digests":
            raise Mismatch(f"it says that texts are replaced by digests, but lists {PROMPTS}")
        return f"{len(names)} files, digest {file_sha256(self.folder / MANIFEST)}"

    def _files(self) -> str:
        listed, found, total = self.package.files, set[str](), 0
        for number, path in enumerate(self.folder.iterdir(), 1):
            about = path.lstat()
            if not stat.S_ISREG(about.st_mode):
                raise Mismatch(f"{path.name!r:.100} is a link, a folder or a device; a package has only files")
            total += about.st_size
            if total > LARGEST or number > MOST_FILES:
                raise Mismatch(f"more than {LARGEST:,} bytes or {MOST_FILES} files")
            found.add(path.name)
        if added := sorted(found - listed.keys() - {MANIFEST}):
            raise Mismatch(f"{added[0]!r:.100} is not listed in {MANIFEST}")
        for name, file in listed.items():
            if name not in found:
                raise Mismatch(f"{name} is missing")
            if (size := (self.folder / name).stat().st_size) != file.bytes:
                raise Mismatch(f"{name} has {size:,} bytes, but {MANIFEST} lists {file.bytes:,}")
            if file_sha256(self.folder / name) != file.sha256:
                raise Mismatch(f"{name} has been changed since the package was written")
        return f"{total:,} bytes, every digest is as listed"

    # The record, and what follows from it

    @cached_property
    def record(self) -> Record:
        text = _text(self.folder / documents_of(self.protocol.name)[0], LARGEST_JSON)
        strict_json(text)
        found: Record = self.protocol.parse(text)
        return found

    def _record(self) -> str:
        package, record = self.package, self.record
        name = documents_of(self.protocol.name)[0]
        if (package.run, package.judge, self.protocol.version) != (
            record.run.id,
            record.judge.name,
            record.run.protocol,
        ):
            raise Mismatch(f"{MANIFEST} names another run, judge or protocol than the record")
        read_judge(self.folder / name)
        if record.audit and unbalanced(record.audit):
            raise Mismatch("the outcomes of its calls do not add up")
        planned = sum(row.planned for row in record.audit)
        if planned != record.run.trials or record.complete == any(row.unasked for row in record.audit):
            raise Mismatch(f"it counts {planned:,} calls, but names {record.run.trials:,}")
        if package.texts == "digests" and redacted(record) != record:
            raise Mismatch(f"it quotes texts, but {MANIFEST} says that they are replaced by digests")
        policy = ""
        if isinstance(self.protocol, DecidesByPolicy):
            policy = f"; policy {self.protocol.policy_words(record)}"
            again = self.protocol.as_published(record, record)
            if self._is_of_this_version and not _same_record(again, record):
                raise Mismatch("its checks, decision or findings do not follow from its measures")
        return f"judge {record.judge.name}, run {record.run.id}{policy}"

    @property
    def _is_of_this_version(self) -> bool:
        return self.package.umpirical_version == version("umpirical")

    def _rendered(self, name: str, render: Callable[[Any], str]) -> str:
        if not self._is_of_this_version:
            self.not_checked[name] = f"written by umpirical {self.package.umpirical_version}; this is another version"
            return "as listed"
        return self._same(name, render(self.record))

    def _same(self, name: str, expected: str) -> str:
        if _text(self.folder / name, LARGEST_JSON) != expected:
            raise Mismatch("it does not follow from the record" if name != LICENSES else f"it differs from {MANIFEST}")
        return "follows from the manifest" if name == LICENSES else "follows from the record"

    # The judge

    @cached_property
    def spec(self) -> JudgeSpec | None:
        if not self._has(JUDGE):
            return None
        return JudgeSpec.model_validate(strict_json(_text(self.folder / JUDGE, LARGEST_JSON)))

    @cached_property
    def renderer(self) -> Judge | None:
        return None if self.spec is None else build_renderer(self.spec)

    def _judge(self) -> str:
        spec, judge = self.spec, self.record.judge
        assert spec is not None  # noqa: S101  # it is listed
        if spec_record(spec, judge.fingerprint, judge.served_by) != judge:
            raise Mismatch("it is not the judge of the record")
        if self.renderer is not None and self.renderer.fingerprint == judge.fingerprint:
            return f"judge {spec.name}, fingerprint {judge.fingerprint[:16]}"
        if spec.model is not None and ADAPTERS.get(spec.model.adapter).simulated:
            raise Mismatch("its fingerprint is not that of the record")
        self.not_checked["fingerprint"] = "it covers settings of the server or code that are not published"
        return f"judge {spec.name}"

    # Test cases and questions

    @cached_property
    def listed(self) -> StimuliFile:
        return StimuliFile.model_validate(strict_json(_text(self.folder / STIMULI, LARGEST_JSON)))

    @cached_property
    def stimuli(self) -> Mapping[str, Stimulus]:
        """The built-in test cases, made again; empty for a person's own data."""
        if self.listed.recipe is None or not isinstance(self.protocol, MakesAgain):
            return {}
        made = counted(self.protocol.made_again(self.listed.recipe), "test cases compared")
        # As a run reads them: in a file, names are in alphabetical order.
        return {one.id: stimulus_from_row(stimulus_row(one)) for one in made}

    def _stimuli(self) -> str:
        listed = self.listed
        state = hashlib.sha256("".join(listed.ids).encode()).hexdigest()[:32]
        if state != listed.digest or listed.digest != self.record.run.stimuli:
            raise Mismatch("they are not the test cases of the record")
        if self.package.built_in != (listed.recipe is not None):
            raise Mismatch(f"{MANIFEST} says otherwise whether they are built in")
        if listed.recipe is None:
            self.not_checked["test cases"] = "they are made of the author's own data, which is not in the package"
            return f"{len(listed.ids):,} test cases, digest {listed.digest}"
        if list(self.stimuli) != listed.ids:
            raise Mismatch("the built-in test cases of this size and seed are others")
        return f"{len(listed.ids):,} test cases made again, digest {listed.digest}"

    def _redacted_prompts(self) -> str:
        judge = self.renderer
        if judge is None:
            raise Mismatch(f"{JUDGE} has no prompt to render them from")
        for one in counted(self._lines(REDACTED, RedactedQuestion), "prompts compared"):
            texts = [text for text in (one.shown.get("task"), one.shown.get("first"), one.shown.get("second")) if text]
            if any(text.strip() and not DIGEST.fullmatch(text) for text in [*texts, *one.shown["columns"].values()]):
                raise Mismatch(f"question {one.id} shows a text in place of its digest")
            presentation = presentation_from_row(one.presentation)
            if judge.request(Presented(**one.shown), presentation).payload() != one.request:
                raise Mismatch(f"question {one.id} does not follow from {JUDGE}")
            if self.stimuli:
                stimulus = self._stimulus(one.stimulus)
                if prompt_id(request_for(judge, stimulus, presentation)) != one.id:
                    raise Mismatch(f"question {one.id} is another than its test case makes")
                if redacted_question(judge, Trial("", one.id, one.stimulus, presentation), stimulus) != one:
                    raise Mismatch(f"question {one.id} has the digests of other texts")
            elif one.stimulus not in self._ids:
                raise Mismatch(f"question {one.id} is about a test case that is not listed")
            self.asked[one.id] = None
        return f"{len(self.asked):,} questions, rendered again from {JUDGE}"

    def _prompts(self) -> str:
        ids = []
        for one in self._lines(PROMPTS, Question):
            if digest("prompt", one.request) != one.id:
                raise Mismatch(f"question {one.id} has been changed")
            ids.append(one.id)
        if ids != list(self.asked):
            raise Mismatch(f"they are not the questions of {REDACTED}")
        return f"{len(ids):,} questions, each with the digest of its text"

    def _lines(self, name: str, kind: type[T]) -> Iterator[T]:
        with (self.folder / name).open("rb") as file:
            while line := file.readline(LARGEST_JSON + 1):
                if len(line) > LARGEST_JSON:
                    raise Mismatch(f"a line of {name} has more than {LARGEST_JSON:,} bytes")
                yield kind.model_validate(strict_json(line.decode("utf-8")))

    def _stimulus(self, name: str) -> Stimulus:
        if name not in self.stimuli:
            raise Mismatch(f"there is no test case {name}")
        return self.stimuli[name]

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self.listed.ids)

    # Judgments

    def _judgments(self) -> str:
        import pyarrow.parquet as pq

        path, count = self.folder / JUDGMENTS, 0
        facts = self.protocol.early().facts
        for row in counted(read_rows(path), "judgments compared"):
            count += 1
            self._compare(row, facts)
        if not pq.read_schema(path).equals(judgment_schema(facts.columns)):
            raise Mismatch("its columns are not those of judgments")
        if count != self.record.run.trials:
            raise Mismatch(f"it has {count:,} judgments, but the record names {self.record.run.trials:,} calls")
        spec = self.spec
        again = None if spec is None else self.protocol.recounted(self.record, path, spec)
        if again is None:
            self.not_checked["measures"] = "this kind of record is counted again only from its run"
            return f"{count:,} judgments"
        if not _same_record(again, self.record):
            raise Mismatch("the measures of the record do not follow from it")
        return f"{count:,} judgments, counted again: every measure of the record follows from them"

    def _compare(self, row: Mapping[str, Any], facts: Facts) -> None:
        """Raises unless a judgment is about a test case of the package, as it was presented."""
        trial = trial_from_row(row)
        if trial.id != trial_id(trial.prompt_id, repeat=trial.presentation.repeat):
            raise Mismatch(f"trial {trial.id} has a different id than its question")
        if self._has(REDACTED) and trial.prompt_id not in self.asked:
            raise Mismatch(f"trial {trial.id} has a question that is not in {REDACTED}")
        if not self.stimuli:
            if trial.stimulus_id not in self._ids:
                raise Mismatch(f"trial {trial.id} is about a test case that is not listed")
            return
        stimulus, judge = self._stimulus(trial.stimulus_id), self.renderer
        scale = None if self.spec is None else trial.presentation.scale(self.spec.scale)
        said = judgment_row(trial, stimulus, None, scale, facts)
        if wrong := [name for name in said if name not in OUTCOME and said[name] != row.get(name)]:
            raise Mismatch(f"trial {trial.id} does not match its test case: {wrong[0]}")
        if judge is not None and prompt_id(request_for(judge, stimulus, trial.presentation)) != trial.prompt_id:
            raise Mismatch(f"trial {trial.id} has a different prompt than its test case makes")

    # Claims, and what remains

    def _claim(self, name: str) -> Iterator[Check]:
        path = self.folder / name
        yield _check(name, lambda: self._rests_here(path))
        try:
            yield from (check for check in verify_claim(path) if check.part != documents_of(self.protocol.name)[0])
            self.not_checked.update(dict.fromkeys(absent_files(path), "a claim rests on it, and it is not here"))
        except (*FAULTS, UmpiricalError):
            return

    def _rests_here(self, path: Path) -> str:
        strict_json(_text(path, LARGEST_JSON))
        claim, digest_here = read_claim(path), sha256(_text(self.folder / documents_of(self.protocol.name)[0], LARGEST))
        if digest_here not in (claim.datasheet.sha256, claim.evidence_file.sha256):
            raise Mismatch("it rests on another record than the one in this package")
        return "rests on the record in this package"

    def _note_rest(self) -> None:
        if not self._has(JUDGMENTS):
            self.not_checked["measures"] = "the package has no judgments to count them from"
        if not self._has(REDACTED):
            self.not_checked["prompts"] = "the judge's own code builds them"
        self.not_checked["replies"] = (
            "the package does not hold the judge's replies: whether it gave these verdicts, the author vouches for. "
            "Compare the digest of manifest.json with one that the author published elsewhere"
        )


OUTCOME = frozenset({"outcome", "choice", "label", "value", "score", "confidence", "why", "reasoning"})

FAULTS = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, AssertionError)
"""What a stranger's file may make of code that expects another."""


def _check(part: str, work: Callable[[], str]) -> Check:
    try:
        return Check(part, holds=True, found=work())
    except (*FAULTS, UmpiricalError) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        return Check(part, holds=False, found=said)


def _same_record(one: Record, other: Record) -> bool:
    return alike(one.model_dump(mode="json"), other.model_dump(mode="json"))


def _text(path: Path, most: int) -> str:
    """Returns the text of a file that is no link and within a size."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode) or about.st_size > most:
        raise Mismatch(f"{path.name} is not a file, or has more than {most:,} bytes")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Mismatch(f"{path.name} is not UTF-8 text") from None


def strict_json(text: str) -> Any:  # noqa: ANN401  # JSON
    """Returns JSON in which no field appears twice and every number is one."""
    return json.loads(
        text, object_pairs_hook=without_doubles, parse_constant=_no_number, parse_float=_finite, parse_int=_bounded
    )


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _finite(word: str) -> float:
    return value if isfinite(value := float(word)) else _no_number(word[:20])


def _bounded(word: str) -> int:
    if len(word) > 20 or abs(value := int(word)) > LARGEST_NUMBER:
        raise ValueError(f"the number {word[:20]}... is too large")
    return value
