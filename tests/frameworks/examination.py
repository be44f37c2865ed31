"""Examines the judges of one framework, inside an environment where it is installed: `python -m … NAME FOLDER`.

With `--examples`, only the examples of the framework's page are measured, and not every judge of its own as well.

Prints one line of JSON for each judge. Every connection that is not to this machine is refused and listed.
"""

import contextlib
import io
import json
import math
import os
import re
import socket
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from aiohttp import web

import umpirical
from tests.frameworks.specimen import BATCH, FAULTS, RUBBISH, Simulation, Specimen
from tests.servers.chat_server import ChatServer, prompt_text
from umpirical.api.studies import JudgeEntry
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate
from umpirical.domain.trials import Presentation, Presented
from umpirical.integrations.promptfoo import judge as promptfoo
from umpirical.judges.adapters.catalogue import Adapted, judge_adapter_of
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import silence_telemetry
from umpirical.models.spec import Calling
from umpirical.runs.loop import run_on_loop
from umpirical.testing import JudgeSamples, check_judge_adapter

HARD = 'A "quoted" {brace} {{mustache}} <b>&amp;</b>\tTab\nline\r\n\\n \\ $x$ %s ünï 漢字 🙂 </answer>'
PAGES = Path(__file__).resolve().parents[2] / "docs" / "connect" / "frameworks"
MISSES = 0.2
"""Share of intervals that may miss: one in twenty does, and those of one run lean on the same answers."""
DEADLINE = 240.0
"""Seconds for a judgment: frameworks retry by themselves, and the machine may be busy."""
LEAST = 5
"""How many of the true values have to be measured."""
SHOWN = (("dark-current", ""), ("slot-bias", ""), ("grade-spread", ""), ("grade-slope", ""))
"""The measures whose values are written down."""
HANG = 3.0
"""Seconds for a judgment that hangs."""

outside: list[str] = []
"""Where something tried to connect to, other than this machine."""


def watch_connections() -> None:
    """Refuses connections to other machines, and lists them."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            host = arguments[0]
        elif event == "socket.connect" and isinstance(arguments[1], tuple):
            host = arguments[1][0]
        else:
            return
        host = host.decode() if isinstance(host, bytes) else host
        if host not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0"):  # noqa: S104  # it is what is asked for
            outside.append(str(host))
            raise socket.gaierror(f"{host} is not this machine")

    sys.addaudithook(hook)


def outside_of_node() -> list[str]:
    """Returns where programs in Node tried to connect to, which list that themselves: see outside.mjs."""
    listed = Path(os.environ.get("UMPIRICAL_OUTSIDE", ""))
    return listed.read_text(encoding="utf-8").split() if listed.is_file() else []


class Examined:
    """One judge, and what was found out about it."""

    def __init__(self, specimen: Specimen, folder: Path) -> None:
        self.specimen, self.folder = specimen, folder
        # Built to be asked what it is: nothing is sent.
        told, _ = JudgeEntry().of(specimen.made("http://127.0.0.1:9/v1", "", folder), folder)
        if specimen.is_config:
            told = {**promptfoo.describe(PromptfooSpec.model_validate(told["promptfoo"]), folder), **told}
        self.spec = JudgeSpec.model_validate({**told, **specimen.entry, "deadline": DEADLINE})

    def measured(self, runs: int) -> dict[str, Any]:
        """Measures the judge, so many times in this process. Returns what was built in and what was found."""
        simulation = Simulation(self.specimen, self.spec, self.folder / "twin")
        with ChatServer(simulation.answer) as server:
            built = self.specimen.build(server.base_url, "Be exact.")
            reports = [self._datasheet(built, f"run-{run}") for run in range(runs)]
            sent = sum(server.asked.values())
        found, *others = (_estimates(report) for report in reports)
        assert all(other == found for other in others), "the second run of the process is not like the first"
        statuses = _statuses(reports[0], simulation)
        most = runs * self.specimen.requests * statuses["trials"] + self.specimen.asides
        assert sent <= most, f"{sent} requests, and {most} were expected at most"
        return {**statuses, **_recovered(found, simulation.true_value())}

    def _datasheet(self, built: object, run: str) -> Any:
        judge = self.specimen.placed(built, self.folder / run)
        told: dict[str, Any] = {"scale": self.spec.scale} if "scale" in self.specimen.entry else {}
        told |= {"concurrency": BATCH} if self.specimen.is_config else {}
        return umpirical.datasheet(
            judge, folder=self.folder / run, size="screen", progress=False, deadline=DEADLINE, trust=True, **told
        )

    def documented(self, code: str, config: str = "") -> dict[str, Any]:
        """Runs the example of the page, which finds its server and its key where its client looks for them.

        `config` is the file that the page says to have beside it.

        Returns what was built in and what it found.
        """
        simulation = Simulation(self.specimen, self.spec, self.folder / "twin")
        folder = self.folder / "example"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
        with ChatServer(simulation.answer) as server, contextlib.chdir(folder):
            # LlamaIndex has a name of its own for the address.
            os.environ |= dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), server.base_url)
            os.environ["OPENAI_API_KEY"] = "none"
            known: dict[str, Any] = {"__name__": "example"}
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, f"{self.specimen.name} in the page", "exec"), known)  # noqa: S102  # our own page
        report = known["report"]
        assert printed.getvalue().strip() == report.markdown().strip()
        return {**_statuses(report, simulation), **_recovered(_estimates(report), simulation.true_value())}

    def conforms(self) -> None:
        """Holds the adapter to the conformance kit."""
        with ChatServer(self._said) as server, ChatServer(_refused) as broken:
            judge = self.specimen.made(server.base_url, "Be exact.", self.folder)
            check_judge_adapter(
                _OfConfigs(self.folder) if self.specimen.is_config else judge_adapter_of(judge),
                self.spec,
                JudgeSamples(
                    judge=judge,
                    expected=self._plain(),
                    broken=self.specimen.made(broken.base_url, "Be exact.", self.folder),
                    other=self.specimen.made(server.base_url, "Be kind.", self.folder),
                    stranger=self.specimen.placed(self.specimen.stranger(), self.folder),
                ),
            )

    def shows(self) -> None:
        """Every text is in the prompt as it is, the first before the second, also when they are exchanged."""
        with ChatServer(self._said) as server:
            judge = self._built(server)
            for pair in ((f"one {HARD} one", f"two {HARD} two"), (f"two {HARD} two", f"one {HARD} one")):
                server.bodies.clear()
                second = pair[1] if self.spec.kind == "compare" else None
                outcome = asked(judge, Presented(f"task {HARD} task", pair[0], second))
                assert isinstance(outcome, Verdict | Abstained), f"a hard text is {outcome!r}"
                prompt = next(each for each in map(prompt_text, server.bodies) if self.specimen.aside(each) is None)
                places = [prompt.find(self.specimen.shows(text)) for text in pair]
                assert places[0] >= 0, f"a text is not in the prompt as it is: {prompt!r}"
                if self.spec.kind == "compare":
                    assert places[0] < places[1], f"the second comes before the first: {prompt!r}"

    def fails(self) -> dict[str, str]:
        """Says how every fault of a server, and every answer that is no verdict, ends."""
        found = {}
        for fault in FAULTS:
            misbehave = (lambda _id, _times, how=fault: how) if fault != "rejected" else (lambda *_: None)
            answer = _refused if fault == "rejected" else self._said
            with ChatServer(answer, misbehave=misbehave) as server:
                deadline = HANG if self.specimen.expected(fault) == "timeout" else DEADLINE
                outcome = asked(self._built(server, deadline), self._plain()[0][0])
            found[fault] = outcome.kind if isinstance(outcome, Failed) else repr(outcome)
            assert found[fault] == self.specimen.expected(fault), f"{fault} is {outcome!r}"
        for value in (RUBBISH, "", *self.specimen.off_scale):
            with ChatServer(lambda body, value=value: self._off_scale(value, prompt_text(body))) as server:
                outcome = asked(self._built(server), self._plain()[0][0])
            assert isinstance(outcome, Unparsed), f"{value!r} is {outcome!r}"
        return found

    def _off_scale(self, value: Any, prompt: str) -> Any:
        if (other := self.specimen.aside(prompt)) is not None:
            return other
        return value if value in (RUBBISH, "") else self.specimen.said(value, prompt)

    def _built(self, server: ChatServer, deadline: float = DEADLINE) -> Any:
        judge = self.specimen.made(server.base_url, "Be exact.", self.folder)
        spec = self.spec.model_copy(update={"deadline": deadline})
        if self.specimen.is_config:
            return build_judge(_about(judge, spec), folder=self.folder, calling=Calling())
        return build_judge(spec, folder=self.folder, calling=Calling(), found=judge)

    def _plain(self) -> list[tuple[Presented, str]]:
        """Returns questions with known answers: the longer of two texts is better, and a long one has the top grade."""
        long, short = "a long answer to it", "short"
        if self.spec.kind == "compare":
            shown = [Presented("Do it.", long, short), Presented("Do it.", short, long)]
            other = "abstain" if self.specimen.one_sided else "2"
            return [(shown[0], "1"), (shown[1], other)]
        low, high = self._ends()
        return [(Presented("Do it.", long, None), str(high)), (Presented("Do it.", short, None), str(low))]

    def _ends(self) -> tuple[Any, Any]:
        scale = self.spec.scale
        assert scale is not None
        return (scale.labels[0], scale.labels[-1]) if scale.labels else (scale.low, scale.high)

    def _said(self, body: dict[str, Any]) -> Any:
        if (other := self.specimen.aside(prompt_text(body))) is not None:
            return other
        shown = self.specimen.shown(body)
        if shown.second is None:
            return self.specimen.said(self._ends()[len(shown.first) > 10], prompt_text(body))
        return self.specimen.said("1" if len(shown.first) > len(shown.second) else "2", prompt_text(body))


class _OfConfigs:
    """The adapter of judges that are configs in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def describe(self, judge: Any) -> Any:
        return promptfoo.describe(PromptfooSpec.model_validate(judge["promptfoo"]), self._folder)

    def adapt(self, judge: Any, spec: JudgeSpec) -> Adapted:
        return promptfoo.judge(_about(judge, spec), self._folder)


def _about(judge: Any, spec: JudgeSpec) -> JudgeSpec:
    return spec.model_copy(update={"promptfoo": PromptfooSpec.model_validate(judge["promptfoo"])})


def _refused(_: dict[str, Any]) -> str:
    raise web.HTTPBadRequest(text=json.dumps({"error": {"message": "it cannot be answered"}}))


def asked(judge: Any, shown: Presented) -> Outcome:
    response = run_on_loop(judge.ask(judge.request(shown, Presentation()), trial_id="t"))
    return judge.read(response, Presentation())


def _statuses(report: Any, simulation: Simulation) -> dict[str, int]:
    """Holds the outcomes against the answers: rubbish alone is unparsed, and nothing has failed."""
    unparsed, failed = (report.measure(name).result for name in ("unparsed-rate", "failure-rate"))
    assert failed.numerator == 0, f"{failed.numerator:g} of {failed.denominator} calls failed"
    told = f"{len(simulation.rubbish)} answers were rubbish, and {unparsed.numerator:g} are unparsed"
    assert unparsed.numerator == len(simulation.rubbish) > 0, told
    return {"trials": unparsed.denominator, "unparsed": int(unparsed.numerator)}


def _estimates(report: Any) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Returns value and interval by measure and stratum. An end that is not there lies at infinity."""
    found = {}
    for measure in report.measures:
        if isinstance(measure.result, Estimate) and (ends := measure.result.interval) is not None:
            low = -math.inf if ends.low is None else ends.low
            high = math.inf if ends.high is None else ends.high
            found[measure.name, measure.stratum] = (measure.result.value, low, high)
    return found


def _recovered(found: dict[tuple[str, str], Any], true_value: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Holds what was measured against what was built in."""
    both = [key for key in true_value if key in found]
    missed = [key for key in both if not found[key][1] - 1e-9 <= true_value[key] <= found[key][2] + 1e-9]
    assert len(both) >= LEAST, f"only {both} were measured"
    assert len(missed) <= MISSES * len(both), f"true_value outside the intervals: {missed} of {len(both)}"
    shown = [key for key in both if key in SHOWN]
    return {
        "measures": len(both),
        "missed": [" ".join(key).strip() for key in missed],
        "true_value": {name: round(true_value[name, part], 3) for name, part in shown},
        "measured": {name: [round(each, 3) for each in found[name, part]] for name, part in shown},
    }


def documented(name: str, language: str = "python") -> list[str]:
    """Returns the code in the page about a framework."""
    page = (PAGES / f"{name.replace('_', '-')}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def examine(name: str, folder: Path, *, examples: bool = False) -> list[dict[str, Any]]:
    """Examines every judge of a framework, and returns a row for each; what fails is in the row's `error`.

    With `examples`, only those in the page are measured.
    """
    rows, pages, configs = [], documented(name), documented(name, "yaml")
    specimens = import_module(f"tests.frameworks.judges.{name}").SPECIMENS
    for number, specimen in enumerate(specimens):
        row: dict[str, Any] = {"judge": specimen.name}
        try:
            assert 0 < len(pages) <= len(specimens), "the page has no example, or one of a judge that is not here"
            examined = Examined(specimen, folder / str(number))
            row |= {"kind": examined.spec.kind, "faults": examined.fails()}
            examined.shows()
            if not specimen.one_address:
                examined.conforms()
            if not examples:
                row |= examined.measured(runs=1 if number else 2)
            if number < len(pages):
                config = configs[number] if specimen.is_config else ""
                found = examined.documented(pages[number], config)
                row |= found if examples else {}
            outside.extend(outside_of_node())
            assert not outside, f"connections to {sorted(set(outside))}"
        except Exception as error:  # noqa: BLE001  # a row of the matrix
            traceback.print_exc()
            row["error"] = f"{type(error).__name__}: {error}"
        rows.append(row)
    return rows


if __name__ == "__main__":
    watch_connections()
    # As where Umpirical itself loads a judge; MLflow reports its use as soon as it is imported.
    silence_telemetry()
    rows = examine(sys.argv[1], Path(sys.argv[2]), examples="--examples" in sys.argv)
    sys.stdout.write("\n" + json.dumps(rows) + "\n")
    sys.stdout.flush()
    # A thread that a framework leaves behind, in a retry that nobody waits for, would keep the process.
    os._exit(0)
