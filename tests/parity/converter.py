"""From the names of keys and values that version 0.1 wrote to those of today. No number may change on the way.

Nothing in the product reads the old names. This is the proof that only names changed: it was run once on all records.
"""

from typing import Any

KEYS = {
    "arm": "variant",
    "arms": "variants",
    "limits": "checks",
    "left_out": "excluded",
    "planted": "true_value",
    "slot_1": "position_1",
    "slot_2": "position_2",
    "readout": "scoring_method",
    "readouts": "scoring_methods",
    "booked": "spent",
    "vacuum": "blank",
    "delta0": "equal",
    "ladder": "graded",
    "carriers": "own_answers",
    "same_slot": "same_position",
    "candidate_u": "candidate_a",
    "candidate_v": "candidate_b",
    "quad": "crossed_pair",
}

VALUES = {
    "uv": "ab",
    "vu": "ba",
    "vacuum": "blank",
    "delta0": "equal",
    "delta0-subset": "equal-subset",
    "ladder": "graded",
    "carrier-ladder": "own-graded",
    "carrier-delta0": "own-equal",
    "carrier-figures": "own-figures",
    "quad": "crossed-pair",
    "use-with-limits": "use-with-restrictions",
    "leave-out": "exclude",
    "booked": "spent",
    "judge-datasheet/1": "judge-datasheet/2",
    "judge-stress/1": "judge-stress/2",
    "judge-pairs/1": "judge-pairs/2",
    "judge-agent/1": "judge-agent/2",
    "judge-jury/1": "judge-jury/2",
    "judge-claim/1": "judge-claim/2",
    "judge-readouts/1": "judge-scoring/2",
    "judge-comparison/2": "judge-comparison/3",
    "stress-comparison/1": "stress-comparison/2",
    "umpirical-datasheet/1": "umpirical-datasheet/2",
    "umpirical-stress/1": "umpirical-stress/2",
    "umpirical-pairs/1": "umpirical-pairs/2",
    "umpirical-agent/1": "umpirical-agent/2",
}


SAID = {"u": "a", "v": "b"}


def converted(old: Any) -> Any:
    """Returns an old record with today's names."""
    if isinstance(old, dict):
        return {
            KEYS.get(key, VALUES.get(key, key)): SAID.get(value, value) if key == "said" else converted(value)
            for key, value in old.items()
        }
    if isinstance(old, list):
        return [converted(value) for value in old]
    return VALUES.get(old, old) if isinstance(old, str) else old
