"""Shell function that replaces `srun` and starts the processes of a node."""

from __future__ import annotations

from workbench.osmo.sbatch.job import Job

_STARTER = """\
# Starts the processes of this node, as srun would.
srun() {{
  local number started=() status=0
  for ((number = 0; number < {processes}; number++)); do
    {gpus}SLURM_LOCALID=$number SLURM_PROCID=$((SLURM_NODEID * {processes} + number)) "$@" &
    started+=($!)
  done
  for number in "${{started[@]}}"; do wait "$number" || status=$?; done
  return "$status"
}}
"""
_GPUS = "CUDA_VISIBLE_DEVICES=$(seq -s, $((number * {each})) $((number * {each} + {each} - 1))) "
"""Assignment with which a process sees its own GPUs only for --gpus-per-task, as by Slurm's `--gpu-bind=per_task`."""


def starter_of(job: Job) -> str:
    """The shell function for a job's processes."""
    gpus = _GPUS.format(each=job.gpus_per_process) if job.gpus_per_process else ""
    return _STARTER.format(processes=job.processes, gpus=gpus)
