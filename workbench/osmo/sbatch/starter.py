"""Shell function that replaces `srun` in a task and starts the processes of the node."""

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
"""Assignment that shows each process its own GPUs, like Slurm's `--gpu-bind=per_task`. It is used for --gpus-per-task
only.
"""


def starter_of(job: Job) -> str:
    """The shell function that starts a job's processes on a node."""
    gpus = _GPUS.format(each=job.gpus_per_process) if job.gpus_per_process else ""
    return _STARTER.format(processes=job.processes, gpus=gpus)
