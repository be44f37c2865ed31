"""File names that are safe everywhere, whatever a judge or a test is called."""

import re
from collections import Counter
from collections.abc import Sequence

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.protocols.stress.record import StressReport

INDEX = "index.html"

LONGEST = 60
"""Most characters of a name; a file name has room for two of them and the extension."""


def page_name(judge: str, test: str) -> str:
    """Returns the file name for one test of one judge.

    >>> page_name("gpt-4o", "label-flip"), page_name("../GPT 4o", "label-flip")
    ('gpt-4o--label-flip.html', 'gpt-4o-47ea215b--label-flip.html')
    """
    return f"{_safe(judge)}--{_safe(test)}.html"


def judge_keys(reports: Sequence[StressReport]) -> list[str]:
    """Returns distinct names for the reports: the judge's name, with its run if a judge occurs twice."""
    times = Counter(report.judge.name for report in reports)
    keys = [r.judge.name if times[r.judge.name] == 1 else f"{r.judge.name} {r.run.id}" for r in reports]
    if repeated := [key for key, number in Counter(keys).items() if number > 1]:
        raise UsageError(f"the same run is given twice: {', '.join(repeated)}", fix="Give each run once.")
    return keys


def _safe(name: str) -> str:
    """Keeps lower-case letters, digits and single hyphens; a name with any other character gets a digest.

    So does a name that looks as if it already had a digest.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-")
    if plain and plain == name and not re.search(r"-[0-9a-f]{8}$", name):
        return plain
    return f"{plain or 'x'}-{digest('file name', name)[:8]}"
