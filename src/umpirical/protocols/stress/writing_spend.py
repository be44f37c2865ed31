"""What writing and validating the stimuli of a set took."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import reduce

from umpirical.domain.digests import Json
from umpirical.domain.responses import Response, Usage
from umpirical.stimuli.generation.commissions import GenerationTerms, Writer


def writing_spend(terms: GenerationTerms, calls: Iterable[tuple[str, Response]]) -> list[Json]:
    """Returns what the calls of each role took, in the order of the roles; a role that was not asked is left out."""
    by_role: Mapping[str, list[Response]] = defaultdict(list)
    for role, response in calls:
        by_role[role].append(response)
    writers = {"generator": terms.generator, "validator": terms.validator, "fallback": terms.fallback}
    return [
        role_spend(role, writer, by_role[role])
        for role, writer in writers.items()
        if writer is not None and by_role[role]
    ]


def role_spend(role: str, writer: Writer, responses: Sequence[Response]) -> Json:
    """Returns what the calls of one role took; there is at least one."""
    costs = [response.cost for response in responses]
    known = [cost for cost in costs if cost is not None]
    usage = reduce(Usage.plus, (response.usage for response in responses))
    return {
        "role": role,
        "model": writer.words,
        "calls": len(responses),
        "refused": sum(response.failure == "refused" or response.ending == "refused" for response in responses),
        "failed": sum(response.failure not in (None, "refused") for response in responses),
        # A sum of what is known would pass for the whole.
        "cost": "0" if writer.simulated else str(sum(known, Decimal(0))) if len(known) == len(costs) else None,
        "price_table": ", ".join(sorted({response.price_table for response in responses} - {""})),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
