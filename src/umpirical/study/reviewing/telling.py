"""What is said of a review where stimuli are checked, planned and asked about: one line."""

from umpirical.reports.stress.review_record import ReviewRecord
from umpirical.reports.stress.reviewing import review_words
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["never_opened", "review_line"]


def review_line(stimuli: StimulusSet) -> str:
    """What people said of a set of stimuli, or how many texts wait for them; empty where neither."""
    manifest = stimuli.manifest
    if "review" in manifest:
        return f"review: {review_words(ReviewRecord.model_validate(manifest['review']))}"
    waiting = sum(made.get("left_out", 0) for made in manifest.get("made", {}).values())
    return never_opened(waiting) if waiting else ""


def never_opened(left_out: int) -> str:
    """Of a study that waits for people who were never asked."""
    return f"review: never opened, so {left_out:,} generated texts are left out"
