"""Which tests a study has if it names none, and the names that the Judge Reliability Harness has for them."""

from collections.abc import Iterable

WITHOUT_GENERATOR = ("vertical-spacing", "inline-spacing", "indentation", "stability")
"""The tests that need no model besides the judge."""

HARNESS_SUITE = (
    "label-flip",
    "vertical-spacing",
    "inline-spacing",
    "indentation",
    "paraphrase",
    "verbosity-long",
    "verbosity-short",
    "stability",
)
"""The suite of the Judge Reliability Harness, for a study with a generator. New texts for every level of a scale,
`synthetic-ordinal`, cost far more than the rest, so they have to be named."""

HARNESS_NAMES = {
    "label_flip": "label-flip-structured",
    "format_invariance_1": "vertical-spacing",
    "format_invariance_2": "inline-spacing",
    "format_invariance_3": "indentation",
    "semantic_paraphrase": "paraphrase",
    "verbosity_bias_long": "verbosity-explained",
    "verbosity_bias_short": "verbosity-short",
    "stochastic_stability": "stability",
    "synthetic_ordinal": "synthetic-ordinal",
}
"""The harness's names of tests, and the test here that does what the harness's paper says."""


def own_names(tests: Iterable[object]) -> list[object]:
    """Returns the tests with the harness's names replaced by ours; anything else as it is."""
    return [HARNESS_NAMES.get(test, test) if isinstance(test, str) else test for test in tests]
