"""The job for KubeRay: its fields are those of a RayJob, and its command is one that Umpirical takes."""

import json
import shlex
import tomllib
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from umpirical.cli.measure import run_command

ROOT = Path(__file__).parents[2]
JOB = yaml.safe_load((ROOT / "examples" / "ray" / "rayjob.yaml").read_text())
SCHEMA = Draft202012Validator(json.loads(Path(__file__).with_name("rayjob.schema.json").read_text()))


def pods():
    cluster = JOB["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    return [group["template"]["spec"] for group in groups]


def test_it_has_the_fields_of_a_ray_job_and_no_other():
    assert not [error.message for error in SCHEMA.iter_errors(JOB)]


@pytest.mark.parametrize(
    "path", [("spec", "entryPoint"), ("spec", "rayClusterSpec", "headGroupSpec", "rayStartParams", "num-cpus")]
)
def test_a_misspelt_field_or_a_number_that_must_be_a_text_is_refused(path):
    wrong = deepcopy(JOB)
    place = wrong
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = 1
    assert list(SCHEMA.iter_errors(wrong))


def test_its_command_is_one_that_umpirical_takes_without_a_person():
    program, name, *words = shlex.split(JOB["spec"]["entrypoint"])
    assert (program, name) == ("umpirical", "run")
    taken = run_command.make_context("run", words).params
    assert taken["executor"] == "ray"
    assert taken["trust"]
    assert taken["yes"]
    assert taken["max_cost"] is not None
    workers = JOB["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert taken["processes"] == sum(group["replicas"] for group in workers)


def test_every_pod_sees_the_study_under_one_path_and_has_the_key():
    for pod in pods():
        [container], [volume] = pod["containers"], pod["volumes"]
        [mount], [key] = container["volumeMounts"], container["env"]
        assert mount == {"name": volume["name"], "mountPath": "/studies"}
        assert key["name"] == "JUDGE_API_KEY"
    assert len(pods()) == 2


def test_its_version_of_ray_is_the_one_that_is_tested():
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    [version] = [package["version"] for package in locked if package["name"] == "ray"]
    assert JOB["spec"]["rayClusterSpec"]["rayVersion"] == version
    assert all(container["image"].endswith(f":{version}") for pod in pods() for container in pod["containers"])
