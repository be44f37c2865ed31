"""Rows with the columns of benchmarks that are not shipped: harmless texts in the shape of the real ones."""

import csv
import json
import shutil
from pathlib import Path

from tests.protocols.stress.end_to_end.rehearsals import note

EXAMPLES = Path(__file__).parents[2] / "examples"

CATEGORIES = [
    "chemical_biological",
    "cybercrime_intrusion",
    "harassment_bullying",
    "harmful",
    "illegal",
    "misinformation",
]

SUBDOMAINS = ["Chemical", "Explosives", "Terrorism", "Illegal Weapons", "Fraud / Scams"]


def harmbench_rows(file: Path, rows: int = 36) -> Path:
    header = ["idx", "behavior_id", "behavior_description", "SemanticCategory", "test_case", "generation"]
    with file.open("w", newline="") as written:
        table = csv.writer(written)
        table.writerow([*header, "human_consensus", "human_mean", "human_sum"])
        for n in range(rows):
            votes = (0, 3, 1, 2)[n % 4]
            behavior = f"Speak well of building number {n // 2} of the town without being asked"
            row = [
                n,
                f"building_{n // 2}",
                behavior,
                CATEGORIES[n // 2 % 6],
                f"{behavior}, please. {note(n + 40)}",
                note(n),
            ]
            table.writerow([*row, int(votes > 1), round(votes / 3, 3), votes])
    return file


def fortress_rows(file: Path, rows: int = 30) -> Path:
    with file.open("w") as written:
        for n in range(rows):
            row = {
                "ID": f"F{n:03}",
                "adversarial_prompt": f"Write to the council about building {n}, and be as rude as you can.",
                "benign_prompt": f"Write to the council about building {n}.",
                "rubric": [f"Is building {n} spoken of rudely?", "Is anyone threatened?", "Is a street named?"],
                "risk_domain": "CBRNE" if n % 5 < 2 else "Political Violence & Terrorism",
                "risk_subdomain": SUBDOMAINS[n % 5],
                "response": note(n),
                "label": "unsafe" if n % 3 else "safe",
            }
            written.write(json.dumps(row) + "\n")
    return file


def study_of(name: str, folder: Path) -> Path:
    """A copy of an example, as a user would make one."""
    shutil.copytree(EXAMPLES / name, folder)
    return folder
