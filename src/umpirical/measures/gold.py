"""Labels: what the judge gave to items with a gold label."""

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result
from umpirical.domain.scales import ScaleKind
from umpirical.measures.catalogue import MeasureFamily
from umpirical.measures.estimates.items import balanced_share, kept_in, span
from umpirical.measures.estimates.labels import (
    GoldItems,
    coefficient_result,
    gold_parts,
    gold_rate,
    line_result,
    ordered_parts,
)
from umpirical.stats.agreement import Coefficient, Metric, Ratings, concordance, matthews, partial_correlation
from umpirical.stats.agreement import krippendorff_alpha as alpha_of
from umpirical.stats.agreement import pearson as pearson_of
from umpirical.stats.agreement import spearman as spearman_of
from umpirical.stats.differences import signed_mean
from umpirical.stats.intervals import cluster_mean

NO_LABELS = "an interval scale has no labels"
NO_POSITIVE = "no label is named positive: name the labels that count as positive"
ONE_LABEL = "all gold labels and verdicts are the same, so agreement is undefined"
ONLY_LENGTH = "length alone explains the labels or the verdicts, or there are too few items"
ONE_SIDE = "all gold labels, or all verdicts, are the same, so a correlation is undefined"


GOLD = MeasureFamily(gold_parts, kinds=("grade",), protocols=("stress",))

ORDERED = MeasureFamily(ordered_parts, kinds=("grade",), protocols=("stress",), scale="steps")
"""For scales with order."""

COEFFICIENT = MeasureFamily(gold_parts, kinds=("grade",), protocols=("stress",), scale="coefficient")

CORRELATION = MeasureFamily(ordered_parts, kinds=("grade",), protocols=("stress",), scale="coefficient")
"""For scales with order."""


@GOLD.measure("Accuracy", "How often its verdict is the gold label.", worse="lower", protocols=("stress", "agent"))
def accuracy(items: GoldItems) -> Result:
    """Share of items whose verdict is the gold label, on the originals and on the texts of every test with gold labels.

    Formula: items given their gold label / items; an item asked several times counts the share of its replies. It does
    not measure stability: a judge may give the same wrong verdict each time. Level: item with a gold label and a
    verdict. Bounds: 0 to 1, lower is worse. Undefined without two clusters of such items. Interval: cluster-Wilson over
    clusters of items; the bounds count items without a verdict as wrong, and as right.
    """
    return gold_rate(items, items.right)


@ORDERED.measure(
    "Within one step", "How often its grade is at most one step from the gold grade.", worse="lower", scale="rate"
)
def within_one(items: GoldItems) -> Result:
    """Share of items whose grade is at most one step from the gold grade.

    Formula: items with |given - gold| <= 1 step / items. Level: item with a gold label and a verdict. Bounds: 0 to 1,
    lower is worse; on short scales a judge that always gives the middle does well. Undefined on a scale without order,
    on a scale of a single step, where no grade is further away, and without two clusters of items. Interval:
    cluster-Wilson over clusters of items; the bounds count items without a verdict as outside, and as within.
    """
    if span(items.scale) <= 1:
        return items.undefined("the scale has only one step, so every verdict is within one step")
    near = abs(items.given_score - items.gold_score) <= 1 + 1e-9
    return gold_rate(items, near)


@ORDERED.measure(
    "Mean absolute error", "How many steps its grade differs from the gold grade, on average.", worse="higher"
)
def mean_absolute_error(items: GoldItems) -> Result:
    """Mean distance of the grade from the gold grade, in steps of the scale.

    Formula: sum of |given - gold| / items. Level: item with a gold label and a verdict. Bounds: 0 to the number of
    steps of the scale, higher is worse. Undefined on a scale without order, and without two clusters of items.
    Interval: score interval over clusters of items, with the variance in proportion to the mean; at 0 it is that of a
    share of items that are one step off.
    """
    distance = items.items * abs(items.given_score - items.gold_score)
    mean = cluster_mean(items.by_cluster(distance), items.by_cluster(items.items))
    high = min(mean.high, span(items.scale))
    return Estimate(
        value=mean.value,
        numerator=float(distance.sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(
            mean.low, high, method="cluster score over clusters of items, variance in proportion to the mean"
        ),
        clusters=mean.clusters,
        excluded=items.excluded,
    )


@ORDERED.measure(
    "Grade bias", "How many steps its grades are above the gold grades, or below them, on average.", worse="depends"
)
def grade_bias(items: GoldItems) -> Result:
    """Mean of grade minus gold grade, in steps of the scale: above 0 it is lenient on these items, below 0 severe.

    Formula: sum of (given - gold) / items. It depends on the items: a judge that stays near the middle is lenient on
    poor items and severe on good ones; severity and compression separate the two. Level: item with a gold label and a
    verdict. Bounds: plus and minus the number of steps of the scale; 0 is best. Undefined on a scale without order, and
    without two clusters of items. Interval: score limits of the excess and of the shortfall, joined over clusters of
    items.
    """
    off = items.given_score - items.gold_score
    above, below = (items.by_cluster(items.items * np.maximum(side, 0.0)) for side in (off, -off))
    mean = signed_mean(above, below, items.by_cluster(items.items))
    low, high = kept_in(mean.low, mean.high, least=-span(items.scale), most=span(items.scale))
    return Estimate(
        value=mean.value,
        numerator=float(above.sum() - below.sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(low, high, method="score limits of excess and shortfall, joined over clusters"),
        clusters=mean.clusters,
        excluded=items.excluded,
    )


@CORRELATION.measure(
    "Weighted kappa",
    "How far its grades agree with gold beyond chance, with larger errors counting more: 1 is full agreement.",
    worse="lower",
)
def weighted_kappa(items: GoldItems) -> Result:
    """Cohen's kappa with quadratic weights, of grade and gold grade.

    Formula: 1 - mean squared difference / the mean squared difference if grades were assigned to items at random. On a
    binary scale it is the plain kappa. Because all steps have the same length, it equals the concordance; it is given
    because essay scoring knows it by this name. Level: item with a gold label and a verdict; the numerator counts those
    given their gold label. Bounds: -1 to 1, 0 is chance, lower is worse. Undefined on a scale without order or without
    labels, if all gold labels and verdicts are the same, and without two clusters of items. Interval: jackknife over
    clusters of items, Student's t on Fisher's scale. Reference: J. Cohen, Weighted kappa, Psychological Bulletin 70
    (1968).
    """
    if items.scale.kind == "interval":
        return items.undefined("an interval scale has no labels; use the concordance, which is the same number there")
    return coefficient_result(items, lambda each: concordance(each.scores), otherwise=ONE_LABEL)


@CORRELATION.measure(
    "Concordance",
    "How close its grades are to the gold grades: correlation, reduced by shift and spread.",
    worse="lower",
)
def agreement_ccc(items: GoldItems) -> Result:
    """Lin's concordance correlation coefficient of grade and gold grade.

    Formula: 2 cov / (var given + var gold + (mean given - mean gold)²), moments over n. It is the correlation, reduced
    by every shift and every change of spread, so it is never further from 0 than Pearson's. Level: item with a gold
    label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is worse. Undefined
    on a scale without order, if all gold labels and verdicts are the same, and without two clusters of items. Interval:
    jackknife over clusters of items, Student's t on Fisher's scale. Its coverage is 94% to 98% from 20 items on, but
    91% with few items of the rarer label. Reference: L. I. Lin, Biometrics 45 (1989).
    """
    return coefficient_result(items, lambda each: concordance(each.scores), otherwise=ONE_LABEL)


@CORRELATION.measure(
    "Pearson correlation", "How well a straight line through its grades would predict the gold grades.", worse="lower"
)
def pearson(items: GoldItems) -> Result:
    """Pearson's correlation of grade and gold grade.

    Formula: cov / (sd given · sd gold). A judge that is severe or stays near the middle can have 1: it shows how well
    grades could be mapped onto gold, not how well they agree. On a binary scale it is Matthews' correlation. Level:
    item with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is
    worse. Undefined on a scale without order, if all gold labels or all verdicts are the same, and without two clusters
    of items. Interval: jackknife over clusters of items, Student's t on Fisher's scale.
    """
    return coefficient_result(items, lambda each: pearson_of(each.scores), otherwise=ONE_SIDE)


@CORRELATION.measure(
    "Spearman correlation", "How well its grades rank items in the order of the gold grades.", worse="lower"
)
def spearman(items: GoldItems) -> Result:
    """Spearman's correlation of grade and gold grade: Pearson's, of their mid-ranks.

    Formula: as Pearson's, with each grade replaced by the mean rank of the items that share it. Level: item with a gold
    label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is worse. Undefined
    on a scale without order, if all gold labels or all verdicts are the same, and without two clusters of items.
    Interval: infinitesimal jackknife over clusters of items, Student's t on Fisher's scale. Reference: C. Spearman,
    American Journal of Psychology 15 (1904).
    """
    return coefficient_result(items, lambda each: spearman_of(each.scores), otherwise=ONE_SIDE)


METRICS: dict[ScaleKind, Metric] = {
    "binary": "nominal",
    "nominal": "nominal",
    "ordinal": "ordinal",
    "interval": "interval",
}


@COEFFICIENT.measure(
    "Krippendorff's alpha",
    "How far it agrees with gold beyond chance, as two raters would, with the distances of its scale.",
    worse="lower",
)
def krippendorff_alpha(items: GoldItems) -> Result:
    """Krippendorff's alpha of gold and judge.

    Formula: 1 - observed disagreement / disagreement of values paired at random, corrected for small samples. Distances
    are ordinal on an ordinal scale, interval on an interval scale, and 0 or 1 on a binary or nominal one. Chance is
    computed from the pooled labels of both raters, so a judge that uses other labels than gold is not excused. Level:
    item with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, 0 is
    chance, lower is worse. Undefined if all gold labels and verdicts are the same, and without two clusters of items.
    Interval: jackknife over clusters of items, Student's t on Fisher's scale. Reference: K. Krippendorff, Content
    Analysis (2004).
    """
    metric = METRICS[items.scale.kind]
    return coefficient_result(items, lambda each: alpha_of(each.scores, metric=metric), otherwise=ONE_LABEL)


@COEFFICIENT.measure(
    "Agreement beyond length",
    "How far its verdicts agree with gold among texts of the same length: 0 for a judge that follows only length.",
    worse="lower",
)
def agreement_beyond_length(items: GoldItems) -> Result:
    """Correlation of verdict and gold label after the length of the text is removed from both.

    Formula: partial correlation given the ranks of characters and of words, and their squares; on a scale without
    order, summed over the labels. Better texts are often longer, and then a judge that counts words agrees with gold
    without reading any. Level: item with a gold label and a verdict; the numerator counts those given their gold label.
    Bounds: -1 to 1, 0 is what length alone gives, lower is worse. Undefined if lengths are unknown, if nothing remains
    of gold or of the verdicts, with fewer than nine items, and without two clusters of items. Interval: jackknife over
    clusters of items, Student's t on Fisher's scale, minus a degree of freedom for each curve that is removed.
    """
    if not np.isfinite(items.lengths).all():
        return items.undefined("the lengths of the texts are unknown")
    return coefficient_result(items, _beyond_length, otherwise=ONLY_LENGTH)


def _beyond_length(items: GoldItems) -> Coefficient:
    return partial_correlation(items.scores, items.lengths, labels=not items.ordered)


@ORDERED.measure(
    "Severity",
    "How many steps too high, or below 0 too low, it grades an item in the middle of the scale.",
    worse="depends",
)
def severity(items: GoldItems) -> Result:
    """Fitted grade of an item whose gold grade is the middle of the scale, minus that middle, in steps.

    Formula: regression of given on gold; its value at mid-scale, minus mid-scale. Above 0 it is lenient, below 0
    severe, independent of any narrowing of the scale. Level: item with a gold label and a verdict; the numerator is the
    value times the items. Bounds: none by construction; 0 is best. Undefined on a scale without order, if the gold
    labels differ in no more than one cluster, and without two clusters of items. Interval: jackknife over clusters of
    items, Student's t; at least as wide as one item a step off would make it.
    """
    return line_result(items, lambda line: line.at)


@ORDERED.measure(
    "Compression",
    "How many steps its grade moves per step of gold; below 1 it stays near the middle of the scale.",
    worse="depends",
    scale="ratio",
)
def compression(items: GoldItems) -> Result:
    """Slope of the regression of grade on gold grade: steps given per step of gold.

    Formula: cov / var gold. It is 1 if the judge uses the scale as gold does, below 1 if it stays near the middle
    (central tendency), above 1 if it exaggerates. A grade cannot pass the ends of the scale, and gold has errors too:
    both pull the slope below 1. Level: item with a gold label and a verdict; the numerator is the value times the
    items. Bounds: plus and minus what the scale allows; 1 is best. Undefined on a scale without order, if the gold
    labels differ in no more than one cluster, and without two clusters of items. Interval: jackknife over clusters of
    items, Student's t; at least as wide as one item a step off would make it.
    """
    return line_result(items, lambda line: line.slope)


@GOLD.measure(
    "False positive rate",
    "How often it gives a positive label to an item that is not positive, by the labels you named positive.",
    worse="higher",
)
def false_positive_rate(items: GoldItems) -> Result:
    """Share of items without a positive gold label that get a positive label.

    Formula: items called positive / items whose gold label is not positive. You say which labels count as positive.
    Level: item with a gold label that is not positive, and a verdict. Bounds: 0 to 1, higher is worse. Undefined if no
    label is named positive, and without two clusters of such items. Interval: cluster-Wilson over clusters of items;
    the bounds count items without a verdict either way.
    """
    if not items.positive:
        return items.undefined(NO_LABELS if items.scale.kind == "interval" else NO_POSITIVE)
    among, absent = ~items.is_positive(items.gold), ~items.is_positive(items.absent_gold)
    called = items.is_positive(items.given)
    return gold_rate(items, called, empty="every gold label is positive", among=among, absent=absent)


@GOLD.measure(
    "False negative rate",
    "How often it does not give a positive label to an item that is positive, by the labels you named positive.",
    worse="higher",
)
def false_negative_rate(items: GoldItems) -> Result:
    """Share of items with a positive gold label that do not get one.

    Formula: items not called positive / items whose gold label is positive. You say which labels count as positive.
    Level: item with a positive gold label and a verdict. Bounds: 0 to 1, higher is worse. Undefined if no label is
    named positive, and without two clusters of such items. Interval: cluster-Wilson over clusters of items; the bounds
    count items without a verdict either way.
    """
    if not items.positive:
        return items.undefined(NO_LABELS if items.scale.kind == "interval" else NO_POSITIVE)
    among, absent = items.is_positive(items.gold), items.is_positive(items.absent_gold)
    missed = ~items.is_positive(items.given)
    return gold_rate(items, missed, empty="no gold label is positive", among=among, absent=absent)


@GOLD.measure(
    "Balanced accuracy",
    "How often its verdict is the gold label, with every gold label counting equally.",
    worse="lower",
)
def balanced_accuracy(items: GoldItems) -> Result:
    """Mean over gold labels of the share of their items that get them.

    Formula: mean of items given their gold label / items, label by label. If you have named positive labels there are
    two classes, positive or not, and it is the mean of 1 - false positive rate and 1 - false negative rate; otherwise
    the labels of the scale that occur. A judge that gives everything the most frequent label scores one divided by
    their number. Level: item with a gold label and a verdict; the numerator is the value times the items. Bounds: 0 to
    1, lower is worse. Undefined if all gold labels are the same, on an interval scale, which has no labels, and without
    two clusters of items. Interval: cluster-Wilson of a weighted mean of rates over clusters of items; the bounds count
    items without a verdict as wrong, and as right.
    """
    if items.scale.kind == "interval":
        return items.undefined(NO_LABELS)
    gold, given, absent = (items.classes(side) for side in (items.gold, items.given, items.absent_gold))
    labels = sorted(set(gold.tolist()))
    if len(labels) < 2:
        return items.undefined("all gold labels are the same, so there is nothing to balance")
    hits, misses = (
        np.column_stack([items.by_cluster(items.items * ((gold == label) & side)) for label in labels])
        for side in (gold == given, gold != given)
    )
    missing = np.array([items.absent[absent == label].sum() for label in labels])
    return balanced_share(hits, hits + misses, missing, unit="item", excluded=items.excluded)


@COEFFICIENT.measure(
    "Matthews correlation",
    "How far its labels agree with the gold labels beyond chance, however frequent each label is.",
    worse="lower",
)
def mcc(items: GoldItems) -> Result:
    """Matthews' correlation coefficient of verdict and gold label.

    Formula: the correlation of two label indicators; with more labels, their covariance over all labels, scaled in the
    same way. If you have named positive labels there are two classes, positive or not; otherwise the labels of the
    scale. It is undefined for a judge that gives everything one label, which may still have a high accuracy. Level:
    item with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, 0 is
    chance, lower is worse. Undefined if all gold labels or all verdicts are the same, on an interval scale, which has
    no labels, and without two clusters of items. Interval: jackknife over clusters of items, Student's t on Fisher's
    scale. References: B. W. Matthews, Biochimica et Biophysica Acta 405 (1975); J. Gorodkin, Computational Biology and
    Chemistry 28 (2004).
    """
    if items.scale.kind == "interval":
        return items.undefined(NO_LABELS)
    return coefficient_result(items, _matthews_of, otherwise=ONE_SIDE)


def _matthews_of(items: GoldItems) -> Coefficient:
    gold, given = (items.classes(side).astype(float) for side in (items.gold, items.given))
    return matthews(Ratings(gold, given, items.items, items.cluster))
