"""One question is asked once, in whatever shards it stands, however slow its answer is."""

from tests.runs.loopback import swayed_answer
from tests.servers.chat_server import ChatServer
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Unwatched
from umpirical.runs.local import LocalExecutor
from umpirical.runs.plan import Design, write_plan
from umpirical.runs.run import Run
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot
from umpirical.store.stimulus_sets import write_stimuli

SHARD = 10
STIMULI = 40


def alike(number):
    """One of forty stimuli; every third shows the same texts, under another name."""
    text = "the same" if number % 3 == 0 else f"text {number}"
    task = "the task" if number % 3 == 0 else f"task {number}"
    return Stimulus(f"t{number}", task, (f"{text}, first", f"{text}, second"), NoPreference(), "test/1", "family")


def planned(folder, base_url):
    model = {"adapter": "openai-compatible", "name": "m", "base_url": base_url, "price": "free"}
    judge = JudgeSpec(name="j", model=model)
    judge = resolve_prompts(judge, folder)
    stimuli = write_stimuli(folder / "stimuli" / "set", map(alike, range(STIMULI)))
    store = RunStore(folder / "runs" / "j")
    store.write_manifest({"id": "x", "seed": 1})
    call = CallSpec(judge, folder, stimuli.folder, 1)
    write_plan(store, call.open_judge(), stimuli, Design(), shard_size=SHARD)
    return Run(store, call)


def ask(run, shards=None):
    return LocalExecutor(Calling(16)).run(shards or range(run.shards), run.call, run.store, Unwatched())


def test_a_question_in_many_shards_is_asked_once_and_counts_in_each(tmp_path):
    with ChatServer(swayed_answer, latency=0.02) as server:
        run = planned(tmp_path, server.base_url)
        different = {trial.id for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)}
        assert len(different) < run.trials == 2 * STIMULI
        assert run.calls_left() == len(different)
        receipts = ask(run)
        assert server.asked.total() == len(server.asked) == len(different)
        assert sum(receipt.answered for receipt in receipts) == len(different)
        assert run.calls_left() == 0
        with snapshot(run.store) as now:
            for shard, responses in now.walk():
                planned_here = {trial.id for trial, _ in run.store.plan_shard(shard)}
                assert {trial_id for trial_id, found in responses.items() if found.failure is None} == planned_here
        # Nothing is left to ask, and nothing keeps the run open.
        assert ask(run) == []
        assert server.asked.total() == len(different)


def test_a_shard_alone_leaves_to_another_what_that_one_asks(tmp_path):
    with ChatServer(swayed_answer) as server:
        run = planned(tmp_path, server.base_url)
        last = run.shards - 1
        asked = {trial.id for trial, _ in run.store.plan_shard(last)}
        elsewhere = run.store.asked_elsewhere(last)
        assert elsewhere
        assert set(elsewhere.values()) == {0}
        [receipt] = ask(run, [last])
        assert receipt.answered == len(asked) - len(elsewhere)
        with snapshot(run.store) as now:
            assert len(now.responses(last)) == receipt.answered
        ask(run, [0])
        with snapshot(run.store) as now:
            assert now.responses(last).keys() == asked
