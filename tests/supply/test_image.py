"""Containerfile: built with buildah on a base of Debian's, its image gates two judges as a user without rights."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "Containerfile"

TOOLS = ("buildah", "debootstrap", "uv")


def test_the_image_runs_as_nobody_special_and_holds_only_what_was_installed():
    *_, last = CONTAINERFILE.read_text(encoding="utf-8").split("\nFROM ")
    assert re.findall(r"^(?:COPY|ADD) (.*)", last, re.MULTILINE) == ["--from=build /opt/umpirical /opt/umpirical"]
    assert "\nUSER umpirical\n" in last
    assert 'ENTRYPOINT ["umpirical"]' in last


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}")
@pytest.mark.skipif(os.geteuid() != 0, reason="debootstrap needs root")
def test_it_is_built_and_gates_a_judge_that_passes_and_one_that_fails(tmp_path):
    def run(*command, code=0, **given):
        done = subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, **given)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout.strip()

    storage = ("--root", tmp_path / "store", "--runroot", tmp_path / "run", "--storage-driver", "vfs")

    def buildah(*command, code=0):
        return run("buildah", *storage, *command, code=code, env={**os.environ, "BUILDAH_ISOLATION": "chroot"})

    packages = "--include=python3,python3-venv,ca-certificates"
    run("debootstrap", "--variant=minbase", packages, "bookworm", tmp_path / "root", "http://deb.debian.org/debian")
    base = buildah("from", "scratch")
    buildah("add", base, tmp_path / "root", "/")
    buildah("commit", base, "localhost/base")
    context, work = tmp_path / "context", tmp_path / "work"
    run("uv", "build", "--wheel", "--out-dir", context / "dist", ROOT)
    build = ["build", "--pull-never", "--network", "host", "--build-arg", "BASE=localhost/base"]
    certificates = ["--volume", "/etc/ssl/certs:/etc/ssl/certs:ro"]
    buildah(*build, *certificates, "--file", CONTAINERFILE, "--tag", "localhost/umpirical", context)
    image = buildah("from", "--pull-never", "localhost/umpirical")
    inside = ("run", "--volume", f"{work}:/work", image, "--")
    for name, measured, gated in (("careful", 4, 0), ("slot-locked", 3, 3)):
        (work / name).mkdir(parents=True)
        judges = [{"name": "ours", "model": {"adapter": "simulated", "name": name}}]
        study = {"study": "gated", "design": {"size": "screen"}, "judges": judges}
        (work / name / "umpirical.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        for folder in (work, work / name):
            folder.chmod(0o777)
        buildah(*inside, "umpirical", "run", name, "--yes", "--trust", code=measured)
        buildah(*inside, "umpirical", "gate", name, "--policy", "ci-smoke", code=gated)
    assert buildah(*inside, "id", "--user") == "1000"
