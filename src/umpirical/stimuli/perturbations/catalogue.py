"""What a perturbation is, and which there are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from umpirical.domain.digests import digest
from umpirical.registry import Registry

Alters = Literal["format", "wording", "cue", "own-words", "own-claim", "other"]
"""What a perturbation alters: how a text looks; how it is worded, with the same content at about the same length; a cue
that is added to sway the judge; the same wording by the judge's own model; a claim that the judge wrote it; or anything
else, such as its length, its language or what it says. Simulated examiners go by this word, so a new perturbation need
not be named anywhere else."""


@dataclass(frozen=True, slots=True)
class ProvedPerturbation:
    """A change made by program that no judge should heed, with a proof that nothing else has changed.

    The verdict on the changed text should be that on the original.
    """

    name: str
    title: str
    about: str
    """What is changed, in one sentence for the report."""
    version: int
    """Raised with every change of the code that could make another text."""
    change: Callable[[str, np.random.Generator], str]
    """From a text to the changed text, or to the same text where there is nothing to change."""
    normal: Callable[[str], str]
    """The form in which the original and the changed text are equal. It keeps everything that must not change."""
    alters: Alters = "other"
    against: str = ""
    """The test whose text the judge's verdict is compared with; empty for the original."""
    over: tuple[str, ...] = ()
    """Tests whose texts are changed instead of the originals, in a study that has one of them."""

    @property
    def maker(self) -> str:
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, slots=True)
class Made:
    """A text that a generator wrote, beside what it was written from."""

    original: str
    """The user's response; empty for a text that was written from scratch."""
    changed: str
    task: str = ""
    target: str = ""
    """The label it was written for, if there was one."""
    others: tuple[str, ...] = ()
    """Texts that it must not repeat: originals and earlier ones of the same label."""
    setting: Mapping[str, str] = field(default_factory=dict)
    """What else the perturbation was told, such as the language to write in."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a program can see about a generated text, independently of any model's opinion."""

    name: str
    allowed: str
    """What passes, in words with numbers."""
    found: Callable[[Made], str]
    """What was found, in words with numbers. It goes into the record either way."""
    passed: Callable[[Made], bool]


def _always_fit(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class GeneratedPerturbation:
    """A change that a language model makes, checked by program and by validators before it is shown to a judge."""

    name: str
    title: str
    about: str
    version: int
    expectation: Literal["same-verdict", "flipped-verdict", "given-label"]
    """What the judge should do: keep its verdict, change it to the target, or give the target to a new text."""
    prompt: str
    """Template with {{instruction}}, {{rubric}}, {{task}}, {{response}}, {{label}}, {{target}}, {{scale}}, {{examples}}
    and {{fence}}, each filled where it stands; the generator answers with the whole new text and nothing else."""
    checks: tuple[Check, ...]
    validation: Literal["same-grade", "target-grade", "none"] = "same-grade"
    """What validators are asked, shown the judge's own instruction and rubric: whether the original and the new text
    deserve the same grade, or which grade the new text deserves, which must be the target. `none`: nothing to ask."""
    unfit: Callable[[str], str] = _always_fit
    """Why a response cannot be changed in this way, so that it is not tried in vain; empty for one that can."""
    question: str = ""
    """What a reviewer of the text answers by accepting it; empty for the one that follows from the rest."""
    alters: Alters = "other"
    against: str = ""
    """The test whose text the judge's verdict is compared with; empty for the original."""
    writer: Literal["generator", "own-generator"] = "generator"
    """Which model writes it: the generator, or the judge's own."""

    @property
    def review_question(self) -> str:
        """What a reviewer answers: its own question, or the one that validators would be asked."""
        if self.question:
            return self.question
        if self.expectation != "same-verdict":
            return "Which label does this text deserve?"
        if self.validation == "none":
            return "Was one passage added, and nothing else changed?"
        return "Is the meaning unchanged?"

    @property
    def maker(self) -> str:
        """Its name and version, with a digest of the prompt, so that no change of that goes unnoticed."""
        return f"{self.name}/{self.version}+{digest('prompt template', self.prompt)[:8]}"


Perturbation = ProvedPerturbation | GeneratedPerturbation

PERTURBATIONS: Registry[Perturbation] = Registry(
    "perturbations",
    {
        "vertical-spacing": "umpirical.stimuli.perturbations.proved:VERTICAL_SPACING",
        "blank-lines-removed": "umpirical.stimuli.perturbations.proved:BLANK_LINES_REMOVED",
        "inline-spacing": "umpirical.stimuli.perturbations.proved:INLINE_SPACING",
        "indentation": "umpirical.stimuli.perturbations.proved:INDENTATION",
        "list-or-prose": "umpirical.stimuli.perturbations.proved:LIST_OR_PROSE",
        "markdown-or-plain": "umpirical.stimuli.perturbations.proved:MARKDOWN_OR_PLAIN",
        "look-alike-punctuation": "umpirical.stimuli.perturbations.proved:LOOK_ALIKE_PUNCTUATION",
        "heading-case": "umpirical.stimuli.perturbations.proved:HEADING_CASE",
        "typos": "umpirical.stimuli.perturbations.proved:TYPOS",
        "label-flip": "umpirical.stimuli.perturbations.rewritten:LABEL_FLIP",
        "label-flip-structured": "umpirical.stimuli.perturbations.rewritten:LABEL_FLIP_STRUCTURED",
        "paraphrase": "umpirical.stimuli.perturbations.rewritten:PARAPHRASE",
        "verbosity-long": "umpirical.stimuli.perturbations.rewritten:VERBOSITY_LONG",
        "verbosity-explained": "umpirical.stimuli.perturbations.rewritten:VERBOSITY_EXPLAINED",
        "verbosity-short": "umpirical.stimuli.perturbations.rewritten:VERBOSITY_SHORT",
        "authority-cue": "umpirical.stimuli.perturbations.rewritten:AUTHORITY_CUE",
        "bandwagon-cue": "umpirical.stimuli.perturbations.rewritten:BANDWAGON_CUE",
        "self-praise": "umpirical.stimuli.perturbations.rewritten:SELF_PRAISE",
        "prompt-injection": "umpirical.stimuli.perturbations.rewritten:PROMPT_INJECTION",
        "hedging": "umpirical.stimuli.perturbations.rewritten:HEDGING",
        "wrong-language": "umpirical.stimuli.perturbations.rewritten:WRONG_LANGUAGE",
        "synthetic-ordinal": "umpirical.stimuli.perturbations.rewritten:SYNTHETIC_ORDINAL",
        "other-words": "umpirical.stimuli.perturbations.authors:OTHER_WORDS",
        "own-words": "umpirical.stimuli.perturbations.authors:OWN_WORDS",
        "other-claim": "umpirical.stimuli.perturbations.authors:OTHER_CLAIM",
        "own-claim": "umpirical.stimuli.perturbations.authors:OWN_CLAIM",
    },
    noun="perturbation",
)
