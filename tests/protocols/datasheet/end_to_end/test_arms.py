"""Adding an arm is one prompt file: named in the study, it is asked, measured and held against the baseline."""

from tests.protocols.datasheet.end_to_end.conftest import Silent
from umpirical.judges.prompt import builtin_prompt
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.runs.run import open_run
from umpirical.study.file import parse_study
from umpirical.study.run import complete_run, plan_runs

STUDY = """
study: arms
tasks: [hall-minutes, jam-batch]
design: {size: screen}
judges:
  - name: one
    model: {adapter: simulated, name: careful}
    prompts: {baseline: builtin:compare, gentle: gentle.md}
"""


def test_a_prompt_file_is_an_arm(tmp_path):
    gentle = builtin_prompt("compare").replace("You compare", "Please compare", 1)
    (tmp_path / "gentle.md").write_text(gentle)
    [run] = plan_runs(parse_study(STUDY, tmp_path), [])
    complete_run(run, 16, lambda *_: Silent())
    sheet = DATASHEET.report(open_run(run.store.folder))
    assert sheet.run.arms == ["baseline", "gentle"]
    assert sheet.judge.prompts["gentle"] == gentle
    asked = {arm: {m.name for m in sheet.measures if m.arm == arm} for arm in sheet.run.arms}
    assert asked["gentle"] - asked["baseline"] >= {"criterion-shift", "sensitivity-shift"}
    assert asked["baseline"] <= asked["gentle"]
    planned = {arm: sum(row.planned for row in sheet.audit if row.arm == arm) for arm in sheet.run.arms}
    assert planned["gentle"] == planned["baseline"] > 0
