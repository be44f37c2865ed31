"""What becomes of a natural pair when its two answers change places.

That a judge keeps to one of two natural answers is no fault, so these are no false preferences. They are given for
labelled pairs and for verdicts of the past, of which only the orders are known.
"""

from umpirical.measures.natural import (
    named_slot_1_rate,
    named_slot_2_rate,
    no_winner_rate,
    one_order_rate,
    same_answer_rate,
    same_slot_rate,
)

SPECS = (
    same_answer_rate.SPEC,
    same_slot_rate.SPEC,
    one_order_rate.SPEC,
    no_winner_rate.SPEC,
    named_slot_1_rate.SPEC,
    named_slot_2_rate.SPEC,
)
