"""Tables of verdicts and labels with true value errors."""

import csv
import random
from pathlib import Path

WORDS = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def planted_rows(rows=1200, *, labelled=300, seed=1, right=0.8, wins=(0.4, 0.2, 0.4), leaning="win", system=""):
    """Rows of a judge that is right in a share of pairs, and says `leaning` in most of the others."""
    draw = random.Random(seed)  # noqa: S311  # no secret
    for number in range(rows):
        truth = WORDS[draw.choices([1.0, 0.5, 0.0], wins)[0]]
        said = truth if draw.random() < right else draw.choice([leaning, leaning, *WORDS.values()])
        row = {"item": f"q{number}", "verdict": said, "label": truth if number < labelled else ""}
        yield row | ({"system": system} if system else {})


def write_table(path: Path, rows) -> Path:
    """Writes rows as CSV, with the columns of the first."""
    rows = list(rows)
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
