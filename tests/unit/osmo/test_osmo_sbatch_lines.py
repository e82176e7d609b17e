"""Lines of `sbatch` scripts: what is left out, what is no command of Slurm's, and what a task does not have."""

from __future__ import annotations

import pytest

from physical_ai.findings import Severity
from tests.unit.osmo.test_osmo_sbatch import converted, refusals, workflow


@pytest.mark.parametrize(
    "step",
    [
        "srun --cpu-bind=none --kill-on-bad-exit=1 one",
        "srun -l -u --exact --gpu-bind none one",
        "srun -o out/%t.log --wait=60 --mpi=none one",
        "srun --gres=gpu:h100:1 --partition=h100 one",
    ],
)
def test_options_of_a_step_that_change_nothing_are_left_out(step: str) -> None:
    (task,) = workflow("--gres=gpu:h100:1\n--partition=h100", step)["tasks"]
    assert task["files"][0]["contents"] == "#!/bin/bash\none\n"


@pytest.mark.parametrize("line", ['echo "use sbatch to submit; see squeue"', "grep sinfo notes.txt", "ls module"])
def test_a_word_that_is_not_a_command_is_not_a_slurm_command(line: str) -> None:
    assert refusals("", line) == {}


@pytest.mark.parametrize(
    ("line", "severity", "problem"),
    [
        ("source ~/venvs/torch/bin/activate", Severity.WARNING, "~/venvs/torch/bin/activate is not there"),
        ("one --data=/scratch/ada/imagenet", Severity.WARNING, "/scratch/ada/imagenet is not there"),
        ("cp $HOME/key .", Severity.WARNING, "$HOME/key is not there"),
        ("python -u train.py --lr 1", Severity.INFO, "train.py has to be in the image's folder"),
        ("bash tools/run.sh", Severity.INFO, "tools/run.sh has to be in the image's folder"),
        ("./sim --rank 1", Severity.INFO, "./sim has to be in the image's folder"),
    ],
)
def test_files_that_a_task_does_not_have_are_named(line: str, severity: Severity, problem: str) -> None:
    (found,) = converted("--time=10", line).findings
    assert (found.severity, found.where) == (severity, "job.sbatch:3")
    assert problem in found.problem


def test_a_share_of_a_gpu_is_a_platform() -> None:
    assert "physai osmo platforms" in refusals("--gres=shard:2")["job.sbatch:2"]
