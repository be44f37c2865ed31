"""The key `review` of a study file."""

import pytest

from tests.protocols.review.written import small_study
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.protocols.writing import ReviewSpec
from umpirical.study.file import read_study


def test_what_holds_where_nothing_is_said(tmp_path):
    study = read_study(small_study(tmp_path))
    assert study.spec.review == ReviewSpec(overlap=1, mode="blind", undecided="count", guideline=None, sensitive=())
    assert study.guideline == ""


def test_everything_can_be_said(tmp_path):
    review = {
        "overlap": 3,
        "mode": "assisted",
        "undecided": "exclude",
        "guideline": "guide.txt",
        "sensitive": ["label-flip"],
    }
    (tmp_path / "guide.txt").write_text("Keep what says the same.")
    study = read_study(small_study(tmp_path, review=review))
    assert study.spec.review.model_dump() == review | {"sensitive": ("label-flip",)}
    assert study.guideline == "Keep what says the same."


@pytest.mark.parametrize(
    ("review", "message"),
    [
        ({"overlap": 0}, "review.overlap"),
        ({"overlap": 10}, "review.overlap"),
        ({"mode": "open"}, "review.mode"),
        ({"undecided": "drop"}, "review.undecided"),
        ({"reviewers": 2}, "review.reviewers: unknown key"),
        ({"sensitive": ["paraphrase"]}, "'paraphrase' is not a test of this study"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(review, message, tmp_path):
    with pytest.raises(ConfigError) as refused:
        read_study(small_study(tmp_path, review=review))
    assert message in str(refused.value)
    assert "umpirical.yaml:" in str(refused.value)


def test_a_guideline_outside_the_study_takes_a_persons_word(tmp_path):
    (tmp_path / "secret.txt").write_text("Not for reviewers.")
    folder = small_study(tmp_path / "study", review={"guideline": "../secret.txt"})
    with pytest.raises(UsageError, match="outside the study folder"):
        read_study(folder)
    assert read_study(folder, outside=True).guideline == "Not for reviewers."


def test_a_study_without_a_dataset_has_nothing_to_review(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(
        "study: x\nreview: {overlap: 2}\njudges: [{name: a, model: {adapter: simulated, name: careful}}]\n"
    )
    with pytest.raises(ConfigError, match="review: this key is for studies of protocol agent or stress"):
        read_study(tmp_path)
