"""The whole test of a perturbation: it keeps every rule of the house, on our texts and on your own."""
# ruff: noqa: INP001  # one module on its own is no package

from umpirical_line_endings import PERTURBATION

from umpirical.testing import check_perturbation


def test_it_keeps_the_rules() -> None:
    check_perturbation(PERTURBATION, texts=["Dear all,\n\nsee you on 5 May.\n"])
