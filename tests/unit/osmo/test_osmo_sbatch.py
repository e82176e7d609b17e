"""`sbatch` scripts: what becomes of each option, and what is refused, by line."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Severity
from physical_ai.settings import load
from tests.support.cases import in_one_test
from tests.support.paths import ROOT
from workbench.osmo.lint import check_text, of_stack
from workbench.osmo.sbatch import Converted, Platform, convert, platforms_of, text
from workbench.osmo.sbatch.options import BY_NAME, BY_SHORT

TRAIN = ROOT / "tests" / "fixtures" / "osmo" / "sbatch" / "train.sbatch"
PLATFORMS = [Platform("cpu", "cpu", False), Platform("h100", "h100gpu", True), Platform("rtxpro", "rtxprogpu", True)]
IMAGE = "example.com/train:1.0"


def script(header: str, body: str = "python train.py") -> str:
    return "#!/bin/bash\n" + "".join(f"#SBATCH {line}\n" for line in header.splitlines()) + body + "\n"


def converted(header: str, body: str = "python train.py", **options: Any) -> Converted:
    return convert(script(header, body), "job.sbatch", PLATFORMS, **{"image": IMAGE, "platform": "h100", **options})


def workflow(header: str, body: str = "python train.py", **options: Any) -> dict[str, Any]:
    result = converted(header, body, **options)
    assert result.workflow is not None, result.findings
    return result.workflow["workflow"]


def refusals(header: str, body: str = "python train.py", **options: Any) -> dict[str, str]:
    """What is wrong, by place."""
    result = converted(header, body, **options)
    found = {each.where: f"{each.problem}; {each.fix}" for each in result.findings if each.is_error}
    assert (result.workflow is None) == bool(found)
    return found


def test_a_job_of_two_nodes_is_accepted_as_a_workflow() -> None:
    context = of_stack(load("dev-westus2").settings)
    result = convert(TRAIN.read_text(), TRAIN.name, platforms_of(context))
    assert result.workflow is not None
    spec = result.workflow["workflow"]
    assert spec["name"] == "train"
    assert spec["timeout"] == {"exec_timeout": "12h"}
    assert spec["resources"]["default"] == {"platform": "h100", "gpu": 1, "cpu": 16, "memory": "128Gi"}
    (group,) = spec["groups"]
    assert group["ignoreNonleadStatus"] is False
    assert [(task["name"], task["lead"]) for task in group["tasks"]] == [("node-0", True), ("node-1", False)]
    second = group["tasks"][1]
    assert second["image"] == "nvcr.io/nvidia/pytorch:25.10-py3"
    assert second["exitActions"] == {"RESCHEDULE": "137,3001"}
    assert second["environment"] == {
        "NVIDIA_DRIVER_CAPABILITIES": "all",
        "SLURM_JOB_ID": "{{workflow_id}}",
        "SLURM_NNODES": "2",
        "SLURM_NODEID": "1",
        "EPOCHS": "3",
        "MASTER_ADDR": "{{host:node-0}}",
    }
    checked = check_text(text(result.workflow, TRAIN.name), "train.yaml", context)
    assert [each.rule for each in checked.findings if each.is_error] == []
    assert checked.submission is not None
    pods = [item for group in checked.objects for item in group.of(("Pod",))]
    assert len(pods) == 2


def test_the_script_reaches_the_task_as_it_is(tmp_path: Path) -> None:
    """Through OSMO's template, which would take `${#name}` for a comment."""
    context = of_stack(load("dev-westus2").settings)
    result = convert(TRAIN.read_text(), TRAIN.name, platforms_of(context))
    assert result.workflow is not None
    submission = check_text(text(result.workflow, TRAIN.name), "train.yaml", context).submission
    assert submission is not None
    (file,) = submission.spec.all_tasks[0].files
    assert 'echo "${#arguments[@]} arguments' in file.contents
    assert file.contents.startswith("#!/bin/bash\n")
    (tmp_path / "job.sh").write_text(file.contents)
    subprocess.run(["bash", "-n", str(tmp_path / "job.sh")], check=True)


@pytest.mark.parametrize(
    ("header", "resource"),
    [
        ("--gpus=2 -c 8 --ntasks-per-node=2", {"gpu": 2, "cpu": 16}),
        ("--gpus-per-node=h100:1", {"gpu": 1}),
        ("--gpus-per-task=1 --ntasks=2 --nodes=1", {"gpu": 2}),
        ("--gres=gpu", {"gpu": 1}),
        ("--gres gpu:4 --cpus-per-gpu=8 --mem-per-gpu=32G", {"gpu": 4, "cpu": 32, "memory": "128Gi"}),
        ("--gpus=1 --mem-per-cpu=1500 -c2", {"gpu": 1, "cpu": 2, "memory": "3000Mi"}),
        ("--gpus=1 --tmp=50G", {"gpu": 1, "storage": "50Gi"}),
    ],
)
def test_amounts_are_those_of_a_node(header: str, resource: dict[str, Any]) -> None:
    assert workflow(header)["resources"]["default"] == {"platform": "h100", **resource}


@pytest.mark.parametrize(
    ("given", "written"),
    [("90", "90m"), ("90:30", "5430s"), ("1:30:00", "90m"), ("2-12", "60h"), ("2-0:0:0", "2d"), ("1-00:30", "1470m")],
)
def test_times_are_read_as_slurm_reads_them(given: str, written: str) -> None:
    assert workflow(f"--time={given}")["timeout"] == {"exec_timeout": written}


def test_the_platform_is_the_partition_or_the_only_one_with_the_gpu() -> None:
    def platform(header: str, **options: Any) -> str:
        return workflow(header, **{"platform": None, **options})["resources"]["default"]["platform"]

    assert platform("--partition=rtxpro --gpus=1") == "rtxpro"
    assert platform("--partition=rtxprogpu --gpus=1") == "rtxpro"
    assert platform("--partition=batch --gres=gpu:rtxpro6000:1") == "rtxpro"
    assert platform("-p debug") == "cpu"
    assert platform("--partition=rtxpro --gpus=1", platform="h100") == "h100"
    (problem,) = refusals("--partition=gpu --gpus=1", platform=None).values()
    assert problem == (
        "no platform is called 'gpu', and 2 platforms have a GPU; "
        "Write --platform NAME, or --partition=NAME in the header. Platforms: cpu, h100, rtxpro."
    )
    assert "there is no platform 'a100'" in refusals("--gpus=1", platform="a100")["job.sbatch:2"]


@in_one_test("name", [option.name for option in BY_NAME.values() if option.outcome == "refused"])
def test_an_option_without_counterpart_is_refused_at_its_line(name: str) -> None:
    value = "" if BY_NAME[name].form != "value" else "=1"
    found = refusals(f"--time=10\n--{name}{value}\n--partition=cpu", platform=None)
    assert found == {"job.sbatch:3": f"--{name} can't be converted; {BY_NAME[name].advice}"}
    assert BY_NAME[name].advice.endswith(".")


def test_an_option_without_effect_is_mentioned_where_something_takes_its_place() -> None:
    result = converted("--output=a.out --mail-type=END --no-requeue", "hostname")
    assert [each.problem for each in result.findings] == [
        "--output has no counterpart",
        "--mail-type has no counterpart",
    ]
    assert {each.severity for each in result.findings} == {Severity.INFO}


def test_no_two_options_have_one_letter() -> None:
    assert len(BY_SHORT) == len([option for option in BY_NAME.values() if option.short])


@in_one_test(
    ("header", "problem"),
    [
        ("--nodes=2-4", "--nodes=2-4 leaves the number open"),
        ("--nodes=0", "--nodes=0 is not a number above 0"),
        ("--ntasks=4", "--ntasks=4 leaves the number of nodes open"),
        ("--ntasks=3 --nodes=2", "not the same number of processes on each node"),
        ("--gpus=3 --nodes=2", "not the same number on each of 2 nodes"),
        ("--gpus=1 --gres=gpu:2", "--gpus, --gres differ"),
        ("--gres=gpu:1,nvme:1", "is not a number of GPUs"),
        ("--gpus=h100:1,a100:1", "names several types"),
        ("--mem=0", "--mem=0 asks for a whole node"),
        ("--mem=much", "--mem=much is not an amount of memory"),
        ("--mem=1G --mem-per-cpu=1G -c1", "--mem and --mem-per-cpu exclude each other"),
        ("--mem-per-cpu=1G", "--mem-per-cpu without a number of cpus"),
        ("--cpus-per-gpu=4", "--cpus-per-gpu without GPUs"),
        ("--cpus-per-gpu=4 --gpus=1 -c 4", "exclude each other"),
        ("--time=UNLIMITED", "sets no limit"),
        ("--time=0", "sets no limit"),
        ("--time=soon", "--time=soon is not a time"),
        ("--export=HOME", "takes the value from the shell"),
        ("--export=1A=2", "is not the name of a variable"),
        ("--container-image=/images/a.sqsh", "is a file"),
        ("--container-image=nvcr.io#nvidia/pytorch:25.10-py3", "as a comment; --container-image=nvcr.io\\#"),
        ("--tme=10", "is not an option that is known; Did you mean --time?"),
        ("--time", "--time has no value"),
        ('--comment="a', "the line can't be split"),
        ("10", "'10' is not an option"),
        ("hetjob", "a heterogeneous job"),
    ],
)
def test_a_value_that_has_no_counterpart_is_refused_at_its_line(header: str, problem: str) -> None:
    found = refusals(f"--job-name=x\n{header}")
    assert problem in found["job.sbatch:3"]


@in_one_test(
    ("header", "body", "problem"),
    [
        ("", "module load cuda", "a container has no modules"),
        ("", "hosts=$(scontrol show hostnames)", "a task has no scontrol"),
        ("", "sbatch next.sh", "`inputs: [{task: NAME}]` waits"),
        ("", 'echo "$SLURM_ARRAY_TASK_ID"', "osmo workflow submit --set index=1"),
        ("", "cd $SLURM_SUBMIT_DIR", "a task has no SLURM_SUBMIT_DIR"),
        ("", "port=$((10000 + SLURM_JOB_ID % 1000))", "OSMO's id of a workflow is not a number"),
        ("", "echo {{ x }}", "OSMO reads {{ and {% as its template"),
        ("", "srun one & srun two", "srun is not at the start of the line"),
        ("", "srun one &", "steps that run at the same time"),
        ("", "timeout 60 srun one", "srun is not at the start of the line"),
        ("", "srun", "srun without a command"),
        ("", "srun --gres=gpu:2 one", "srun --gres=gpu:2 is not what the header asks for"),
        ("", "srun --mpi=pmix one", "tasks have no pmix"),
        ("", "srun --het-group=0 one", "a step of a heterogeneous job"),
        ("", "srun -w node01 one", "srun --nodelist=node01 can't be converted; Name the platform"),
        ("", 'ip=$(srun -N1 -w "${nodes[0]}" hostname --ip-address)', "MASTER_ADDR is the address of the first node"),
        ("", "trap 'scontrol requeue $SLURM_JOB_ID' USR1", "a task has no scontrol"),
        ("", "if squeue -h; then exit; fi", "a task has no squeue"),
        ("", "A=1 B=2 sbatch next.sh", "a task has no sbatch"),
        ("--nodes=2 --ntasks-per-node=8\n--account=x", "mpirun one", "MPI starts processes on other nodes"),
        ("", 'srun -n "$N" one', "the value is not known before the script runs"),
        ("--nodes=2", "srun one\npython report.py", "sbatch runs this once"),
        ("--nodes=2", "srun one\nsrun two", "steps of several nodes wait for each other"),
        ("--nodes=2", "mpirun one", "MPI starts processes on other nodes"),
        ("--nodes=2", "python train.py", "on the first node only"),
    ],
)
def test_a_command_of_slurm_that_has_no_counterpart_is_refused(header: str, body: str, problem: str) -> None:
    assert problem in "\n".join(refusals(header, body).values())


def test_processes_of_a_node_get_their_number_and_their_failure_counts(tmp_path: Path) -> None:
    body = f"srun bash -c 'echo $SLURM_PROCID $SLURM_LOCALID > {tmp_path}/$SLURM_PROCID; exit $SLURM_LOCALID'"
    spec = workflow("--nodes=2 --ntasks-per-node=2", body)
    task = spec["groups"][0]["tasks"][1]
    path = tmp_path / "job.sh"
    path.write_text(task["files"][0]["contents"])
    ended = subprocess.run(["bash", str(path)], env={**task["environment"], "PATH": "/usr/bin:/bin"}, check=False)
    assert ended.returncode == 1
    assert [(tmp_path / number).read_text() for number in ("2", "3")] == ["2 0\n", "3 1\n"]


def test_one_process_on_one_node_needs_no_srun() -> None:
    body = (
        "echo a\n  srun -u --ntasks=1 --container-image=nvcr.io#nvidia/pytorch:25.10-py3 python \\\n    train.py -n 3"
    )
    (task,) = workflow("", body, image=None)["tasks"]
    assert task["image"] == "nvcr.io/nvidia/pytorch:25.10-py3"
    assert task["files"][0]["contents"] == "#!/bin/bash\necho a\n  python \\\n    train.py -n 3\n"


def test_lines_that_sbatch_ignores_are_warned_of() -> None:
    result = converted("--time=10", "echo\n#SBATCH --time=20\n##SBATCH --array=1\n# srun a & srun b")
    assert [(each.severity, each.where) for each in result.findings] == [(Severity.WARNING, "job.sbatch:4")]
    assert result.workflow is not None
    assert result.workflow["workflow"]["timeout"] == {"exec_timeout": "10m"}


@pytest.mark.parametrize(
    ("first", "problem"),
    [("#SBATCH --time=1", "sbatch refuses"), ("#!/usr/bin/env python3", "run by 'python3'"), ("#!", "run by ''")],
)
def test_the_first_line_names_a_shell(first: str, problem: str) -> None:
    result = convert(f"{first}\necho\n", "job.sbatch", PLATFORMS, image=IMAGE)
    assert problem in result.findings[0].problem
    assert result.workflow is None


def test_a_name_is_adapted_and_an_image_is_needed() -> None:
    assert workflow("--job-name=exp.3/a")["name"] == "exp-3-a"
    assert workflow("")["name"] == "job"
    assert "nothing names its image" in refusals("", image=None)["job.sbatch:1"]


def test_all_that_is_wrong_is_reported_at_once() -> None:
    found = refusals("--array=1-3\n--nodes=1-4", "module load cuda")
    assert list(found) == ["job.sbatch:2", "job.sbatch:3", "job.sbatch:4"]
