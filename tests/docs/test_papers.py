"""The pages of the two papers follow from the counts, and a count that gives another figure is found."""

import json
import shutil

import pytest

from tests.docs.reading import ROOT, load_script

write = load_script(ROOT / "docs" / "results" / "papers" / "write.py", "papers_write")


@pytest.fixture
def counts(tmp_path):
    """The counts, to be tampered with."""
    return shutil.copytree(write.COUNTS, tmp_path / "golden")


def tamper(path, change) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def test_the_pages_are_what_the_counts_give():
    assert write.main(["--check"]) == 0


def one_more_false_preference(record):
    row = next(row for row in record["wilson_rows"] if row["id"] == "Qwen32B.raw_delta0_false_preference")
    row["numerator"] += 1


def one_more_pair(record):
    record["decomposition"]["Llama8B"]["SCS"] += 1


def one_more_item(record):
    record["persuade"]["semantic_paraphrase"][0] = "7/10"


def one_more_violation(record):
    record["appendix_g"][0]["TP"] += 1
    record["appendix_g"][0]["FN"] -= 1


def another_price(record):
    record["appendix_b"]["rows"]["Persuade"][0] = 0.01


@pytest.mark.parametrize(
    ("paper", "change"),
    [
        ("dark_current", one_more_false_preference),
        ("dark_current", one_more_pair),
        ("judge_reliability", one_more_item),
        ("judge_reliability", one_more_violation),
        ("judge_reliability", another_price),
    ],
)
def test_another_count_does_not_give_the_printed_figure(counts, paper, change):
    tamper(counts / f"{paper}.json", change)
    with pytest.raises(write.NotAsPrinted):
        write.pages(counts)


def test_what_the_dollars_buy_follows_from_the_counts():
    """Of AgentHarm: Llama is right in 29 of 32 for $0.0001 a point, which rounds from .00005 to .00015."""
    llama, opus, *_ = write._on_agents(json.loads((write.COUNTS / "judge_reliability.json").read_text()))
    assert (llama.right, llama.judged) == (29, 32)
    assert (llama.least, llama.most) == pytest.approx((0.00005 * 90.625, 0.00015 * 90.625))
    assert llama.most < opus.least
    assert not llama.dominates(opus)
    assert write._Costed("other", 320, 320, 0.0, 0.001).dominates(opus)


def test_a_stale_page_is_found(counts, capsys):
    def other_words(record):
        record["appendix_g"][-1]["model"] = "Another"

    tamper(counts / "judge_reliability.json", other_words)
    assert write.main(["--check", "--counts", str(counts)]) == 1
    assert "judge-reliability.md" in capsys.readouterr().err
