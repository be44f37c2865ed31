"""Line endings: a line feed becomes a carriage return and a line feed, as on Windows."""
# ruff: noqa: INP001  # one module on its own is no package

import re

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation


def _change(text: str, _: np.random.Generator) -> str:
    return re.sub(r"(?<!\r)\n", "\r\n", text)


def _normal(text: str) -> str:
    """Carriage returns before a line feed go; all else stays."""
    return re.sub(r"(?<!\r)\r+\n", "\n", text)


PERTURBATION = ProvedPerturbation(
    name="line-endings",
    title="Line endings",
    about="Lines end with a carriage return and a line feed, as on Windows.",
    version=1,
    alters="format",
    change=_change,
    normal=_normal,
)
