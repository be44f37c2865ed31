"""A configuration of the Judge Reliability Harness."""

from pathlib import Path

from umpirical.protocols.imports.configuration import Configuration
from umpirical.protocols.protocol import STUDY_FILE
from umpirical.store.yaml_files import YamlDocument

RUN = "admin"
DATASET, PERTURBATION, EVALUATION = f"{RUN}.dataset_config", f"{RUN}.perturbation_config", f"{RUN}.evaluation_config"
SYNTHETIC_DATA, STABILITY = "synthetic_data_params", "test_stochastic_stability_config"
AGENTS = "test_agent_perturbation_config"

DROPPED = {
    f"{RUN}.time_stamp": "every run names and dates itself, and the same command resumes it",
    f"{RUN}.test_debug_mode": f"the judges of {STUDY_FILE} are simulated: it costs nothing and needs no key",
    f"{RUN}.output_file_format": "a report is HTML, Markdown and JSON",
    f"{EVALUATION}.overwrite_results": "answers are kept and reused; --fresh asks again",
    f"{EVALUATION}.metric": "every measure that the scale allows is reported",
    f"{EVALUATION}.bootstrap_size": "intervals are computed from all items, with their clusters",
    f"{EVALUATION}.bootstrap_repetitions": "intervals are computed from all items, with their clusters",
    f"{EVALUATION}.get_cost_curves": "the report has cost and latency; umpirical compare shows judges side by side",
    f"{EVALUATION}.aggregation_reference_column": "agreement is measured with the label of each row",
    f"{SYNTHETIC_DATA}.rescore_sample_size": "the harness does not read it either",
    f"{STABILITY}.seed": "the study has one seed",
    f"{AGENTS}.max_summary_messages": "an editor reads a summary of all messages before the one that it edits",
    f"{AGENTS}.trace_messages": "every prompt and reply is recorded",
    f"{AGENTS}.pass_required": "a rewriting counts only if verifiers agree that it deserves its label",
    f"{AGENTS}.output": "the record is in generated/",
    f"{AGENTS}.autograder_template": "the judge's prompt is the built-in one",
}
"""Keys without a counterpart, and why there is none."""


class HarnessConfig(Configuration):
    """A configuration and its folders."""

    unused = DROPPED

    def __init__(self, path: Path, document: YamlDocument) -> None:
        super().__init__(path, document)
        self.module = self.text(f"{RUN}.module_name") or "harness"
        self.root, self.data = self._folders()

    def _folders(self) -> tuple[Path, Path]:
        """Returns the harness's folder and that of the data: inputs/data/MODULE near the file, or the file's own."""
        if self.module != Path(self.module).name or self.module == "..":
            raise self.error(f"{RUN}.module_name", f"{self.module!r} is not the name of a folder")
        here = self.path.resolve().parent
        for root in (here, *here.parents[:3]):
            if (data := root / "inputs" / "data" / self.module).is_dir():
                return root, data
        return here, here

    def file(self, key: str, name: str, folder: Path) -> Path:
        """Returns a file that the configuration names, inside the folder that it may name files of."""
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise self.error(key, f"{name} is outside {folder}", fix="copy it into the folder")
        if not path.is_file():
            raise self.error(key, f"{folder} has no file {name}", fix="put it there, or remove the key")
        return path
