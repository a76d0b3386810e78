"""Differences of results, and the meaning of errors, for all corpora."""

import re

import numpy as np


def difference(what: str, have: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """Tells how results differ by more than a share of the largest; "" if they do not."""
    if have.shape != want.shape:
        return f"{what}: shape {have.shape} for {want.shape}"
    off = np.abs(have.astype(np.float64) - want)
    bound = tolerance * max(1.0, float(np.abs(want).max(initial=0)))
    if (off <= bound).all():
        return ""
    return f"{what}: {(off > bound).sum()} of {off.size}, by {off.max()}"


def blames_converter(error: Exception) -> bool:
    """Tells whether an error is of the self-check or of a reader's code, not of the model."""
    return any(words in str(error) for words in ("self-check", "at fault", "report it"))


def reason(text: str, most: int) -> str:
    """Returns the start of a text without names and numbers of one model, to count by."""
    return re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"'[^']*'", "'...'", text))[:most]
