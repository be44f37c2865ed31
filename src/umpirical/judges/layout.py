"""How a layout is written into a prompt, and what a judge's words then mean."""

from collections.abc import Mapping
from functools import lru_cache

from umpirical.domain.scales import Choice
from umpirical.domain.trials import PLAIN, Layout
from umpirical.judges.spec import JudgeSpec, Prompt
from umpirical.text.templates import placeholders

LABELS = frozenset({"first_label", "second_label"})
OPTIONS = frozenset({"options", "winners"})

LAYOUT_PLACEHOLDERS = LABELS | OPTIONS
"""`first_label` and `second_label`: what `first` and `second` are called. `options`: what may be answered, in order;
`winners`: the same without the tie."""


@lru_cache(maxsize=64)
def layout_values(layout: Layout | None) -> Mapping[str, str]:
    """Returns what is filled into a prompt. There are few layouts, so each is worked out once."""
    layout = layout or PLAIN
    label_1, label_2 = layout.slot_labels
    winners = [_option(label) for label in layout_words(layout) if label != Choice.TIE]
    options = [_option(label) for label in layout_words(layout)]
    return {
        "first_label": label_1,
        "second_label": label_2,
        "winners": ", ".join(winners),
        "options": ", ".join(options),
    }


def layout_words(layout: Layout) -> Mapping[str, str]:
    """Maps every word that may be answered to the choice that it stands for, in the order of the options."""
    label_1, label_2 = layout.slot_labels
    words = [(label_1, str(Choice.POSITION_1)), (label_2, str(Choice.POSITION_2))]
    if layout.options_swapped:
        words.reverse()
    words.insert(layout.tie_place, (str(Choice.TIE), str(Choice.TIE)))
    return dict(words)


def crossed_variants(spec: JudgeSpec) -> tuple[str, ...]:
    """Returns the variants in which the layout can be varied: those whose prompt leaves it open, as built-in ones do.

    A judge with words or a shape of its own for answers keeps them, so its layout is never varied.
    """
    if spec.kind != "compare" or spec.answer.labels or spec.answer.shape:
        return ()
    named = {variant: prompt_placeholders(prompt) for variant, prompt in spec.prompts.items()}
    return tuple(variant for variant, names in named.items() if names >= LABELS and names & OPTIONS)


def prompt_placeholders(prompt: Prompt) -> set[str]:
    texts = [prompt] if isinstance(prompt, str) else [message.content for message in prompt]
    return {name for text in texts for name in placeholders(text)}


def _option(label: str) -> str:
    return f'"{label}"' if label == Choice.TIE else f'"{label}" if candidate {label} is better'
