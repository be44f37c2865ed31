"""How work grows with its size, measured side by side: seconds say more about the machine than about the code."""

import time
from collections.abc import Callable

TIMES = 4
"""The larger work is so many times the smaller."""

LINEAR = 12.0
"""Growth that work in proportion to its size stays under: 4, with room for a busy machine; quadratic is 16."""

QUADRATIC = 40.0
"""The same for work that compares everything with everything, which comes to 16; one power more comes to 64."""


def growth(work: Callable[[int, str], object], *, size: int) -> float:
    """CPU time of the work at four times `size` over that at `size`, the least of three each.

    `work` is given the size and a mark that is another one each time, so that nothing is answered from memory.
    """
    taken: dict[int, list[float]] = {size: [], TIMES * size: []}
    for attempt in range(3):
        for each, times in taken.items():
            begun = time.process_time()
            work(each, f"mark{attempt}of{each}")
            times.append(time.process_time() - begun)
    return min(taken[TIMES * size]) / max(min(taken[size]), 1e-6)
