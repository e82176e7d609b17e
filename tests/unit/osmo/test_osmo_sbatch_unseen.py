"""`sbatch` scripts: what can't be seen in their text, what each node evaluates on its own, and how large they are."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.findings import Severity
from tests.support.cases import in_one_test
from tests.unit.osmo.test_osmo_sbatch import IMAGE, converted, refusals, script, workflow
from workbench.osmo.lint.run import MOST_FINDINGS
from workbench.osmo.sbatch import Platform, convert, text
from workbench.osmo.sbatch.isolated import STOPPED, convert_script
from workbench.osmo.sbatch.job import MOST_NODES
from workbench.osmo.sbatch.options import BY_NAME

NODES = [
    Platform("cpu", "cpu", False, 0, 14, 50),
    Platform("h100", "h100gpu", True, 8, 90, 1700),
    Platform("rtxpro", "rtxprogpu", True, 1, 30, 200),
]
TWO = "--nodes=2 --gres=gpu:8"


def problems(header: str, body: str) -> str:
    return "\n".join(refusals(header, body).values())


@in_one_test(
    "body",
    [
        'ARGS=(--container-image x --label)\nsrun "${ARGS[@]}" one',
        "declare -a ARGS=(-l)\nsrun ${ARGS[*]} one",
        "srun ${R} -l one",
        "srun $SRUN_ARGS one",
        "R=\nsrun $R -l one",
        "R=-l\nif two; then R=; fi\nsrun $R one",
        "R=$(cat options)\nsrun $R one",
        'read -r R < options\nsrun "$R" one',
        "srun -l $1",
        'srun "$@"',
        "srun --$NAME one",
        "srun --container-image=$IMAGE one",
        "eval srun one",
        "eval python train.py",
        'C="srun one"\n$C',
        'shopt -s expand_aliases\nalias run="srun -l"\nrun one',
        'run() { srun "$@"; }\nrun one',
        "function run { echo; srun one; }\nrun",
        "S=srun\n$S one",
        "S=$(which srun)\n$S one",
        "/usr/bin/srun one",
        "command srun one",
        "timeout 60 srun one",
        "xargs srun < list",
        "bash -c 'srun one'",
        "bash <<'END'\nsrun one\nEND",
        "cat > job.sh <<END\nsrun one\nEND\nbash job.sh",
        "srun bash -c 'srun one'",
        "two | srun one",
        "$CMD one",
        '"${CMD[@]}" one',
        "exec $CMD",
        "python train.py $1",
    ],
)
def test_what_the_text_does_not_show_is_refused(body: str) -> None:
    assert refusals("--gpus=1", body)


@in_one_test(
    "body",
    [
        'LAUNCHER="torchrun --nnodes 1"\nsrun $LAUNCHER train.py',
        'CMD=(python train.py)\nsrun "${CMD[@]}"',
        'srun "$VENV/bin/python" train.py',
        "PYTHON=python3\n$PYTHON train.py",
        "f() { echo $1; }\nf a",
        "x=${1:-3}\npython train.py $x",
        "for i in 1 2; do srun python train.py $i; done",
        "SEED=1 srun python train.py",
        "time srun python train.py",
        "cat <<END\nuse srun and docker\nEND",
        "echo docker srun | tee log",
        "pip install docker",
        "command -v docker > /dev/null && echo has",
        "logger srun",
    ],
)
def test_what_the_text_shows_is_converted(body: str) -> None:
    assert refusals("--gpus=1", body) == {}


@in_one_test(
    ("body", "why"),
    [
        ("srun torchrun --rdzv_endpoint=$(hostname):29500 train.py", "hostname"),
        ("srun torchrun --rdzv_endpoint=`hostname`:29500 train.py", "hostname"),
        ("export MASTER_ADDR=$(hostname -I | awk '{print $1}')\nsrun one", "hostname"),
        ('MASTER_ADDR="$(/bin/hostname --fqdn)"\nsrun one', "hostname"),
        ("A=$HOSTNAME\nB=$A:1\nsrun one --address=$B", "the node's name"),
        ("srun one --address=${HOSTNAME%%.*}", "the node's name"),
        ("srun one --address=$(uname -n)", "uname"),
        ("srun one --address=$(ip route get 1 | awk '{print $7}')", "ip"),
        ("srun one --address=$(python -c 'import socket; print(socket.gethostname())')", "python"),
        ("srun one --address=$(cat /etc/hostname)", "/etc/hostname"),
        ("srun one --address=$(</proc/sys/kernel/hostname)", "/proc/sys/kernel/hostname"),
        ('read -r A <<< "$(hostname)"\nsrun one $A', "hostname"),
        ("read A < /etc/hostname\nsrun one $A", "the node's name"),
        ("mapfile -t A < <(hostname)\nsrun one ${A[0]}", "hostname"),
        ("for A in $(hostname); do B=$A; done\nsrun one $B", "hostname"),
        ("printf -v A %s $(hostname)\nsrun one $A", "hostname"),
        ("set_it() { A=$(hostname); }\nset_it\nsrun one $A", "hostname"),
        ("A=()\nA+=(--address=$(hostname))\nsrun one ${A[@]}", "hostname"),
        ('srun bash -c "one --address=$(hostname)"', "hostname"),
        ("set -a\nA=$(hostname)\nsrun one", "hostname"),
        ("A=$(hostname) srun one", "hostname"),
        ("N=HOSTNAME\nsrun one ${!N}", "the variable that $N names"),
        ("export PORT=$RANDOM\nsrun one", "chance"),
        ("srun one --id=$((RANDOM % 100))", "chance"),
        ("((P = RANDOM))\nsrun one $P", "chance"),
        ("let P=RANDOM\nsrun one $P", "chance"),
        ("PORT=$(shuf -i 1-9 -n1)\nsrun one $PORT", "shuf"),
        ("srun one --id=$$", "the process"),
        ("export RUN=$(date +%s)\nsrun one", "date"),
        ("srun one --output=$SLURM_NODEID.txt", "the node's number"),
        ("if [ $SLURM_NODEID -eq 0 ]; then two; fi\nsrun one", "the node's number"),
        ("[[ $SLURM_PROCID == 0 ]] && two\nsrun one", "the node's number"),
        ("case $(hostname) in a) two ;; esac\nsrun one", "hostname"),
        ("hostname > hostfile\nsrun one", "the node it runs on"),
        ("hostname -I | tee hostfile\nsrun one", "the node it runs on"),
        ("cat > hostfile <<END\n$(hostname) slots=8\nEND\nsrun one", "hostname"),
    ],
)
def test_what_each_node_would_evaluate_on_its_own_is_refused(body: str, why: str) -> None:
    found = problems(TWO, body)
    assert "sbatch evaluates it on the first node, a task on each" in found
    assert why in found


@in_one_test(
    "body",
    [
        'echo "$(hostname) at $(date)" >&2\nsrun one',
        "hostname\nsrun one",
        "mkdir -p out-$(date +%s)\nsrun one",
        "srun bash -c 'one --address=$(hostname)'",
        'srun bash -c "one --rank \\$SLURM_PROCID"',
        "srun torchrun --node_rank=$SLURM_NODEID --rdzv_endpoint=$MASTER_ADDR:29500 train.py",
        "export NODE_RANK=$SLURM_NODEID\nsrun one",
        "N=$(nproc)\nD=$(dirname $(pwd))\nsrun one -j $N $D/$(uname -m)",
        "srun one 2>&1 | tee log\necho done $(date)",
        "srun --nodes=$SLURM_NNODES --jobid $SLURM_JOB_ID -l one",
    ],
)
def test_what_is_the_same_on_each_node_is_converted(body: str) -> None:
    assert refusals(TWO, body) == {}


def test_one_node_evaluates_its_own_address() -> None:
    assert refusals("--gres=gpu:8", "export MASTER_ADDR=$(hostname)\nsrun torchrun --id $RANDOM train.py") == {}


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_usual_way_to_the_first_address_reads_what_the_task_has(nodes: int) -> None:
    line = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
    spec = workflow(f"--nodes={nodes}", f"{line}\nsrun one --address $MASTER_ADDR")
    tasks = spec["groups"][0]["tasks"] if nodes > 1 else spec["tasks"]
    assert tasks[0]["environment"]["MASTER_ADDR"] == f"{{{{host:{tasks[0]['name']}}}}}"
    assert 'export MASTER_ADDR="$MASTER_ADDR"\n' in tasks[-1]["files"][0]["contents"]


@in_one_test(
    "program",
    ["docker run a", "podman run a", "enroot start a", "singularity exec --nv a b", "apptainer run a", "nerdctl run a"],
)
@in_one_test(
    "form",
    [
        "{}",
        "srun {}",
        "sudo {}",
        "A=1 {}",
        "({})",
        "if {}; then :; fi",
        "X=$({})",
        "bash -c '{}'",
        'C="{}"\n$C',
        "/opt/bin/{}",
    ],
)
def test_a_runtime_of_containers_is_named(program: str, form: str) -> None:
    found = problems("--gpus=1", form.format(program))
    assert f"a task has no {program.split(maxsplit=1)[0]}" in found
    assert "name its image by --image" in found


@pytest.mark.parametrize(
    "body",
    [
        "one $((SLURM_JOB_ID % 100))",
        "P=$(expr 10000 + $(echo -n $SLURM_JOBID | tail -c 4))\none $P",
        "one ${SLURM_JOB_ID: -4}",
        "J=$SLURM_JOB_ID\none $((J % 9))",
        "let P=SLURM_JOB_ID%10\none",
    ],
)
def test_an_id_is_not_computed_with(body: str) -> None:
    assert "OSMO's id of a workflow is not a number" in problems("", body)


def test_an_id_may_be_part_of_a_path() -> None:
    assert refusals("", "D=out/$SLURM_JOB_ID\nN=$(ls $D | wc -l)\none $D $N") == {}


HARMLESS = (
    "--account=a --qos=high --reservation=r --nice=10 --wckey=w --comment=c\n--wait-all-nodes=1 --hint=nomultithread"
    "\n--output=%x-%j.out --error=%j.err --open-mode=append --mail-type=END,FAIL --mail-user=a@example.com"
    "\n--requeue --no-kill --parsable --mem-bind=local --distribution=block:block --gres-flags=enforce-binding"
    "\n--threads-per-core=1 --contiguous --switches=1 --overcommit --propagate=ALL --acctg-freq=30 -W"
)


def test_options_that_nearly_every_script_has_are_taken_with_a_note() -> None:
    result = convert(script(HARMLESS), "job.sbatch", NODES, platform="cpu", image=IMAGE)
    assert result.workflow is not None, result.findings
    notes = {each.problem.partition(" ")[0]: each for each in result.findings}
    assert {each.severity for each in notes.values()} == {Severity.INFO}
    for name in ("account", "qos", "wait-all-nodes", "hint", "output", "mail-type", "threads-per-core"):
        assert notes[f"--{name}"].fix == BY_NAME[name].advice


def whole(header: str, **options: Any) -> dict[str, Any] | str:
    """The resource of a job, or why it has none."""
    given: dict[str, Any] = {"image": IMAGE, "platform": "h100", **options}
    result = convert(script(header), "job.sbatch", NODES, **given)
    if result.workflow is not None:
        return result.workflow["workflow"]["resources"]["default"]
    return "\n".join(f"{each.problem}; {each.fix}" for each in result.findings if each.is_error)


def test_a_whole_node_is_asked_for_by_its_gpus() -> None:
    assert whole("--exclusive --gres=gpu:8") == {"platform": "h100", "gpu": 8}
    assert whole("--exclusive=user") == {"platform": "h100", "gpu": 8}
    assert whole("--exclusive --gres=gpu:8 --mem=0") == {"platform": "h100", "gpu": 8, "memory": "1700Gi"}
    assert whole("--exclusive", platform="cpu") == {"platform": "cpu", "cpu": 14}
    found = whole("--exclusive --gres=gpu:4")
    assert "--exclusive with 4 of the 8 GPUs" in found
    assert "Write --gres=gpu:8" in found
    assert "--mem=0 asks for a whole node" in whole("--gres=gpu:4 --mem=0")
    assert "the header does not say which" in whole("--exclusive", platform=None)
    assert whole("--exclusive --partition=rtxpro", platform=None) == {"platform": "rtxpro", "gpu": 1}


def test_a_named_platform_settles_the_wishes_for_nodes() -> None:
    assert whole("--constraint=v100-32g --prefer=fast") == {"platform": "h100"}
    assert "--constraint can't be converted" in whole("--constraint=v100-32g -p h100", platform=None)


def test_processes_see_the_gpus_that_slurm_gives_each(tmp_path: Path) -> None:
    body = f"srun bash -c 'echo $CUDA_VISIBLE_DEVICES > {tmp_path}/$SLURM_PROCID'"
    (task,) = workflow("--nodes=1 --ntasks-per-node=2 --gpus-per-task=2", body)["tasks"]
    path = tmp_path / "job.sh"
    path.write_text(task["files"][0]["contents"])
    subprocess.run(["bash", str(path)], env={**task["environment"], "PATH": "/usr/bin:/bin"}, check=True)
    assert [(tmp_path / number).read_text() for number in "01"] == ["0,1\n", "2,3\n"]
    assert "srun --gpu-bind=single:1 can't be converted" in problems(
        "--nodes=1 --ntasks-per-node=2 --gpus=2", "srun --gpu-bind=single:1 one"
    )


def test_a_program_of_a_step_finds_its_place_by_slurms_variables() -> None:
    tasks = workflow(TWO, "srun python train.py")["groups"][0]["tasks"]
    given = [{name: task["environment"][name] for name in ("SLURM_PROCID", "SLURM_NTASKS")} for task in tasks]
    assert given == [{"SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, {"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}]


def test_variables_of_the_callers_shell_are_warned_of_together() -> None:
    (found,) = converted("--export=C=1", "D=1\necho $A ${B} $C $D ${E:-x}").findings
    assert found.severity is Severity.WARNING
    assert "does not set $A, $B:" in found.problem


def test_the_shells_options_stay() -> None:
    result = convert("#!/bin/bash -e\npython train.py\n", "job.sbatch", NODES, platform="cpu", image=IMAGE)
    assert result.workflow is not None
    assert result.workflow["workflow"]["tasks"][0]["command"] == ["bash", "-e", "/srv/job.sh"]


@pytest.mark.parametrize(
    "lines",
    [
        "if true; then\n\techo a\nfi",
        "echo a  \n   \necho b\t\n\n\necho c",
        "cat <<-END\n\t\tdeep\n\tEND",
        "echo '---'\n# ...\n  - a: b",
        "echo äöü 🚀",
    ],
)
def test_a_script_is_a_block_and_keeps_every_character(lines: str) -> None:
    result = converted("--time=10", lines)
    assert result.workflow is not None
    written = text(result.workflow, "job.sbatch")
    contents = yaml.safe_load(written)["workflow"]["tasks"][0]["files"][0]["contents"]
    assert contents == f"#!/bin/bash\n{lines}\n"
    assert "contents: |\n" in written
    assert '"#!' not in written


@pytest.mark.parametrize("lines", ["echo '\x1b[1m'", "echo a\x85b", "echo \u2028"])
def test_characters_that_a_block_loses_are_quoted(lines: str) -> None:
    result = converted("--time=10", lines)
    assert result.workflow is not None
    contents = yaml.safe_load(text(result.workflow, "x"))["workflow"]["tasks"][0]["files"][0]["contents"]
    assert contents == f"#!/bin/bash\n{lines}\n"


@pytest.mark.parametrize(
    "header",
    [
        "--time=" + "9" * 5000,
        "--nodes=" + "9" * 5000,
        "--mem=" + "9" * 5000 + "G",
        "--gres=gpu:" + "9" * 5000,
        "--job-name=" + "x" * 100000,
        "--x=" * 200_000,
        pytest.param("--x= " * 200_000, marks=pytest.mark.deep),
        "'" + "\\'" * 200_000,
        f"--nodes={MOST_NODES + 1}",
        "--ntasks=999999999",
    ],
)
def test_a_huge_value_is_refused_in_a_short_message(header: str) -> None:
    result = convert_script(script(header), "job.sbatch", NODES, "cpu", IMAGE)
    assert result.workflow is None or header.startswith("--job-name")
    for finding in result.findings:
        assert finding.problem not in (STOPPED, "")
        assert len(finding.problem) + len(finding.fix or "") < 500 or header.startswith("--job-name")


def test_many_findings_are_counted_and_not_listed() -> None:
    result = convert_script(
        script("", "docker run a\n" * 3 + "module load b\n" * 900), "job.sbatch", NODES, "cpu", IMAGE
    )
    assert len(result.findings) == MOST_FINDINGS + 1
    assert result.findings[-1].problem.endswith("more findings are left out")
    assert result.workflow is None


@pytest.mark.parametrize("body", ["x " * 600_000, pytest.param("echo $(a)\n" * 90_000, marks=pytest.mark.deep)])
def test_a_script_that_needs_too_much_is_refused(body: str) -> None:
    (finding,) = convert_script(script("", body), "job.sbatch", NODES, "cpu", IMAGE).findings
    assert finding.is_error
    assert finding.problem == STOPPED or "larger than 1 MiB" in finding.problem


@pytest.mark.parametrize("header", ["--partition={{x}}", "--export=A={%x%}", "--export=A={#x#}"])
def test_a_value_of_the_header_is_no_template(header: str) -> None:
    assert "as its template" in "\n".join(refusals(header.replace("#", "\\#")).values())
