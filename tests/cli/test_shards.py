"""--shard auto: the share of a batch that the launching program assigns."""
import json
import os
import shutil
import subprocess

import pytest

import png_file
from conftest import BINARY, files_below

SLURM = {"SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "16", "SLURM_ARRAY_TASK_STEP": "3",
         "SLURM_ARRAY_TASK_COUNT": "3"}
VARIABLES = ["SLURM_ARRAY_TASK_ID", *SLURM, "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "PARALLEL_SEQ"]


@pytest.fixture
def folder(satin, noise):
    """Twenty pictures, and a command without the variables of whatever runs the tests."""
    for name in VARIABLES:
        satin.environment.pop(name, None)
    (satin.folder / "in").mkdir()
    for i in range(20):
        png_file.write(satin.folder / "in" / f"{i}.png", noise((3, 4), seed=i))
    return satin


def done_by(satin, shard, variables=()):
    """The inputs that a shard takes."""
    before = dict(satin.environment)
    satin.environment.update(variables)
    try:
        result = satin.good("blur", "in", "-o", "out", "--radius", "1", "--dry-run", "--json", "--shard", shard)
    finally:
        satin.environment = before
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {row["input"] for row in rows}


def environments(kind):
    if kind == "slurm":
        return [{**SLURM, "SLURM_ARRAY_TASK_ID": str(each)} for each in (10, 13, 16)]
    if kind == "kubernetes":
        return [{"JOB_COMPLETIONS": "3", "JOB_COMPLETION_INDEX": str(each)} for each in range(3)]
    return [{"PARALLEL_SEQ": str(each + 1), "PARALLEL_JOBSLOT": "1"} for each in range(3)]


@pytest.mark.parametrize("kind,shard", [("slurm", "auto"), ("slurm", "auto/3"), ("kubernetes", "auto"),
                                        ("kubernetes", "auto/3"), ("parallel", "auto/3")])
def test_shards_of_schedulers_are_those_of_numbers(folder, kind, shard):
    for index, variables in enumerate(environments(kind), 1):
        assert done_by(folder, shard, variables) == done_by(folder, f"{index}/3"), variables


def test_completions_may_be_told_on_the_line_alone(folder):
    assert done_by(folder, "auto/4", {"JOB_COMPLETION_INDEX": "3"}) == done_by(folder, "4/4")


@pytest.mark.parametrize("variables,says", [
    ({}, ["--shard auto", "SLURM", "Kubernetes", "GNU parallel", "--shard I/N"]),
    ({"JOB_COMPLETION_INDEX": "0"}, ["JOB_COMPLETION_INDEX", "auto/N", "JOB_COMPLETIONS"]),
    ({"PARALLEL_SEQ": "2"}, ["PARALLEL_SEQ", "auto/N", "{#}/{##}"]),
    ({"PARALLEL_SEQ": "2", "JOB_COMPLETION_INDEX": "0"}, ["PARALLEL_SEQ", "JOB_COMPLETION_INDEX", "both"]),
    # --array=1,3,7: three tasks, whose numbers make no range.
    ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "7",
      "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "3"}, ["not a plain range", "--array=1-N"]),
    ({"JOB_COMPLETION_INDEX": "3", "JOB_COMPLETIONS": "3"}, ["JOB_COMPLETION_INDEX", "4 of 3"]),
    ({"JOB_COMPLETION_INDEX": "x", "JOB_COMPLETIONS": "3"}, ["JOB_COMPLETION_INDEX"]),
], ids=["none", "kubernetes alone", "parallel alone", "two", "no range", "beyond", "no number"])
def test_what_does_not_tell_a_shard(folder, variables, says):
    folder.environment.update(variables)
    folder.bad(2, "blur", "in", "-o", "out", "--radius", "1", "--shard", "auto", says=says)
    assert not (folder.folder / "out").exists()


def test_a_number_that_contradicts_the_scheduler(folder):
    folder.environment.update(environments("slurm")[0])
    folder.bad(2, "blur", "in", "-o", "out", "--radius", "1", "--shard", "auto/4", says=["auto/4", "3 shards"])


def test_gnu_parallel_does_a_folder_once(folder):
    parallel = shutil.which("parallel")
    if parallel is None or b"GNU" not in subprocess.run([parallel, "--version"], capture_output=True, check=False).stdout:
        pytest.skip("GNU parallel (Debian: parallel) is not installed")
    line = f"'{BINARY}' blur in -o out{{}} --radius 1 --shard auto/4"
    subprocess.run([parallel, "--will-cite", "-j", "2", line, ":::", "1", "2", "3", "4"], cwd=folder.folder,
                   env={**folder.environment, "HOME": str(folder.folder)}, check=True, timeout=60)
    parts = [files_below(folder.folder / f"out{part}") for part in "1234" if (folder.folder / f"out{part}").exists()]
    assert len(parts) > 1
    assert sorted(sum(parts, [])) == sorted(os.listdir(folder.folder / "in"))
