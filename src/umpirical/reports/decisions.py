"""What a record may say to do with the judge: the words, and what a command exits with."""

from typing import Literal

Advice = Literal["use", "use-with-limits", "do-not-use", "not-enough-data"]
"""What to do with a judge."""

TITLES: dict[Advice, str] = {
    "use": "Use",
    "use-with-limits": "Use with limits",
    "do-not-use": "Do not use",
    "not-enough-data": "Not enough data",
}

EXIT_CODES: dict[Advice, int] = {"use": 0, "use-with-limits": 0, "do-not-use": 3, "not-enough-data": 4}
"""What a command that decides exits with."""
