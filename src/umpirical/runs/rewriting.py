"""Rewrites transcripts: fills the commissions of rewriting, and says before what that takes."""

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence

from umpirical.domain.bills import WritingEstimate
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt
from umpirical.models.money import Pricer
from umpirical.models.prices import WorstCase
from umpirical.models.requests import Model
from umpirical.models.spec import ModelSpec
from umpirical.runs.attempts import GenerationWatcher, Open, settle
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting
from umpirical.stimuli.transcripts.rewriting.settlement import attempt, demands, is_final
from umpirical.store.generation import GenerationStore


def rewritings_left(commissions: Sequence[Rewriting], store: GenerationStore) -> list[tuple[Rewriting, int]]:
    """Returns commissions that are neither filled nor given up, each with the number of attempts so far.

    One whose original is unfit is given up at once: another attempt would end in the same way.
    """
    tried: dict[str, int] = defaultdict(int)
    over: set[str] = set()
    for settled in store.attempts([commission.id for commission in commissions]):
        tried[settled.commission] += 1
        if settled.stimulus is not None or is_final(settled):
            over.add(settled.commission)
    return [
        (commission, tried[commission.id])
        for commission in commissions
        if commission.id not in over and tried[commission.id] < commission.terms.attempts
    ]


def estimated(
    commissions: Sequence[Rewriting],
    store: GenerationStore,
    pricers: Mapping[str, Pricer],
    specs: Mapping[str, ModelSpec],
) -> WritingEstimate:
    """Counts what is left to rewrite, and prices it by role. Reads the record; makes no calls."""
    left = rewritings_left(commissions, store)
    fewest = most = 0
    expected, at_most = WorstCase(), WorstCase()
    counted: set[str] = set()
    for commission, tried in left:
        for demand in demands(commission, tried=tried):
            if demand.shared in counted:
                continue
            counted |= {demand.shared} - {""}
            fewest, most = fewest + demand.fewest, most + demand.most
            worst = expected.of(demand.request, pricers[demand.role])
            expected.add(worst, specs[demand.role], times=demand.fewest)
            at_most.add(worst, specs[demand.role], times=demand.most)
    return WritingEstimate(
        commissions=len(commissions),
        settled=len(commissions) - len(left),
        fewest_calls=fewest,
        most_calls=most,
        expected=expected.total,
        at_most=at_most.at_most,
        tables=tuple(dict.fromkeys(pricer.table for pricer in pricers.values())),
    )


async def rewrite_transcripts(
    commissions: Sequence[Rewriting],
    store: GenerationStore,
    models: Mapping[str, Model],
    *,
    watcher: GenerationWatcher,
    concurrency: int = 16,
    give_up_after: int = 50,
) -> None:
    """Fills every open commission, as far as its attempts allow. If killed, it loses only the calls in flight.

    `models` are those of the commissions' terms, by role. `give_up_after` failures in a row stop it.
    """
    left = rewritings_left(commissions, store)
    watcher.resumed(len(commissions) - len(left))
    await settle(
        [_OpenRewriting(commission, tried) for commission, tried in left],
        store,
        models,
        watcher=watcher,
        concurrency=concurrency,
        give_up_after=give_up_after,
    )


class _OpenRewriting(Open):
    """A transcript that is still to be rewritten."""

    def __init__(self, commission: Rewriting, tried: int) -> None:
        self.id = commission.id
        self.numbers = range(tried, commission.terms.attempts)
        self._commission = commission

    def attempt(self, number: int) -> Generator[Ask, Response, Attempt]:
        return attempt(self._commission, number)

    def is_final(self, attempt: Attempt) -> bool:
        return is_final(attempt)
