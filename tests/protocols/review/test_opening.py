"""Where a review is kept."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.protocols.review.written import small_study, terms_of
from umpirical.domain.errors import UsageError
from umpirical.protocols.review import database_url, open_review, read_review


@pytest.fixture
def terms(tmp_path):
    (tmp_path / "guide.txt").write_text("Keep what says the same.")
    return terms_of(small_study(tmp_path, review={"overlap": 2, "mode": "assisted", "guideline": "guide.txt"}))


def test_a_review_is_begun_in_the_study(terms):
    assert database_url(terms, environment={}) is None
    assert read_review(terms, environment={}) is None
    with pytest.raises(UsageError, match="never opened"):
        open_review(terms, environment={})
    assert not (terms.folder / "review").exists()
    opened = open_review(terms, environment={}, begin=True)
    assert (opened.desk.settings.overlap, opened.desk.settings.mode) == (2, "assisted")
    assert opened.desk.guideline() == (1, "Keep what says the same.")
    opened.close()
    assert (terms.folder / "review" / "review.sqlite").is_file()
    assert read_review(terms, environment={}).overlap == 2
    open_review(terms, environment={}).close()


def test_the_url_is_the_one_named_or_that_of_the_environment(terms):
    environment = {"UMPIRICAL_DATABASE": "sqlite:////there"}
    assert database_url(terms, named="sqlite:////here", environment=environment) == "sqlite:////here"
    assert database_url(terms, environment=environment) == "sqlite:////there"


def test_a_review_elsewhere_leaves_a_trace_without_its_password(terms, tmp_path, monkeypatch):
    desk = SimpleNamespace(set_guideline=lambda _: 1)
    monkeypatch.setattr("umpirical.protocols.review._open", lambda *_: SimpleNamespace(desk=desk))
    url = "postgresql+psycopg://ana:s3cret@db.example.org:5433/reviews?sslmode=require"
    open_review(terms, named=url, environment={}, begin=True)
    trace = (tmp_path / "review" / "database.txt").read_text()
    assert trace == "postgresql+psycopg://ana@db.example.org:5433/reviews\n"
    with pytest.raises(UsageError, match=r"kept at postgresql\+psycopg://ana@db"):
        read_review(terms, environment={})


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql+psycopg://ana@127.0.0.1:1/reviews", "cannot open the review database"),
        ("postgresql+psycopg://ana:s3cret@host:port/reviews", "must be a URL"),
        ("mysql://host/reviews", "unsupported database mysql"),
    ],
)
def test_a_url_that_leads_nowhere_leaves_no_trace(terms, url, words):
    """Or else every run would stop until someone finds and deletes it."""
    with pytest.raises(UsageError, match=words) as refused:
        open_review(terms, named=url, environment={}, begin=True)
    assert "s3cret" not in str(refused.value)
    assert read_review(terms, environment={}) is None


def test_a_study_without_a_review_imports_no_database(tmp_path):
    folder = small_study(tmp_path, stress={"tests": ["vertical-spacing"]})
    code = (
        "import sys; from pathlib import Path; from umpirical.study.file import read_study\n"
        "from umpirical.protocols.stress.stimuli import write_stress_set\n"
        "write_stress_set(read_study(Path(sys.argv[1])))\n"
        "print(sorted({'sqlalchemy', 'alembic', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
