"""What a corrected estimate assumes, in sentences. Every form of a result prints all of them."""

from collections.abc import Mapping

from umpirical.claims.record import Method, SettingsRecord
from umpirical.reports import numbers

TRUTH = "The labels are the truth: where people err, the corrected estimate errs with them."


def of_correction(method: Method, settings: SettingsRecord, columns: Mapping[str, str], *, systems: int) -> list[str]:
    """Returns what a correction assumes."""
    said = [*_of_method(method, settings), _of_rows(columns)]
    if settings.estimate == "win-rate":
        said.append("A tie counts one half. Verdicts and labels name the same side: a win is one in both.")
    if "item" not in columns:
        said.append("No column names the items: that no item is there twice could not be checked.")
    if systems > 1:
        said.append(
            "The judge's limits are held against every system. Nobody has tested that it errs alike on all."
            if method == "bounds"
            else "Every system is corrected by its own labels. No calibration is shared between systems."
        )
    return said


def _of_method(method: Method, settings: SettingsRecord) -> list[str]:
    if method == "labels":
        return [
            "The labelled rows are a random sample of the rows that have a verdict.",
            "A choice of rows by what the judge said is looked for; any other choice goes unseen.",
            TRUTH,
            "The interval is about the population that the rows were drawn from.",
        ]
    if method == "bounds":
        step = f"{numbers.step(settings.step)} {numbers.units('requirement', settings.step)}"
        return [
            "The judge errs on these rows as on the built-in stimuli, within the limits. Nothing here tests that.",
            f"Two answers are equal, or one is better by at least {step} of the built-in ladder.",
            "Each pair was shown in an order that was drawn by chance, or in both orders.",
            "If all of that is so, the bounds hold the truth in at least 95 % of samples.",
            "They are no interval around an estimate: nothing between them can be ruled out.",
        ]
    origin = (
        "Labels were given to so many rows of each label, and rows of one label are a random sample of the target's "
        "rows of that label. Rows with a label are not part of the target."
        if settings.labels == "by-label"
        else "Sensitivity and specificity carry over to these rows from elsewhere. Nothing here tests that."
    )
    positive = "What counts as positive in the record is what passes here." if settings.record else ""
    return [origin, "The judge errs alike on all rows of one truth.", *([positive] if positive else []), TRUTH]


def _of_rows(columns: Mapping[str, str]) -> str:
    if "cluster" in columns:
        return "Rows of different clusters are independent of each other."
    return "Every row is independent of the others: no column of clusters was named."


def of_claim(*, held: bool) -> list[str]:
    """Returns what a claim assumes beside the correction and the datasheet."""
    said = ["The verdicts were given by the judge of the datasheet, as it was measured. The file does not say by whom."]
    if not held:
        said.append("The datasheet was taken as published: its responses were not there to hold it to.")
    return said
