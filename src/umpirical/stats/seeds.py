"""Randomness as an argument: every draw is derived from a seed and the names of what it is for."""

import hashlib

import numpy as np
from scipy.special import ndtri


def generator(seed: int, *names: str) -> np.random.Generator:
    """Returns a separate generator for each (seed, names)."""
    return np.random.default_rng(int.from_bytes(_hash(seed, names, 16), "big"))


def uniform(seed: int, *names: str) -> float:
    """Returns one number in (0, 1), the same for the same (seed, names) in any process and any order of calls."""
    return (int.from_bytes(_hash(seed, names, 8), "big") + 0.5) / 2**64


def normal(seed: int, *names: str) -> float:
    """Returns one standard normal number, the same for the same (seed, names)."""
    return float(ndtri(uniform(seed, *names)))


def _hash(seed: int, names: tuple[str, ...], size: int) -> bytes:
    # Each name is hashed with its length, so ("ab", "c") and ("a", "bc") are different draws.
    parts = [str(seed), *names]
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
