"""One workflow: whether its tasks use their GPUs, and if not, what they wait for."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, figures, lines

TARGET = 0.8
"""Share of time in which the SMs should be active."""
_LEGEND = "{{task}} GPU {{gpu}}"
TASKS = 'physical_ai:gpu_tasks{namespace=~"$namespace",workflow=~"$workflow"}'


def dashboard() -> Dashboard:
    return (
        parts.dashboard("physical-ai-workflow", "Workflow on GPUs")
        .with_variable(parts.choice("namespace", "namespace", "kube_pod_info"))
        .with_variable(_workflows())
        .with_row(parts.row("Use"))
        .with_panel(
            lines(
                "SM active",
                Query(
                    of_tasks("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_GPU_UTIL", tasks=TASKS),
                    _LEGEND,
                ),
                unit="percentunit",
                target=TARGET,
                text="Training should reach 80 %. Where a GPU reports no SM activity, its utilization.",
                width=12,
            )
        )
        .with_panel(
            lines(
                "Tensor cores active",
                Query(of_tasks("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", tasks=TASKS), _LEGEND),
                unit="percentunit",
                text="Low while SMs are active: the job computes without tensor cores, for example in FP32.",
                width=12,
            )
        )
        .with_panel(lines("Memory used", Query(of_tasks("DCGM_FI_DEV_FB_USED", tasks=TASKS), _LEGEND), unit="mbytes"))
        .with_panel(lines("GPUs held", Query(f"sum by (task) ({_recorded('held')})", "{{task}}")))
        .with_panel(
            figures(
                "GPU-hours",
                Query(_hours("held"), "{{task}} held"),
                Query(_hours("busy"), "{{task}} busy"),
                unit="h",
                text="In the time shown.",
            )
        )
        .with_row(parts.row("What starves it"))
        .with_panel(
            lines(
                "Memory bandwidth",
                Query(of_tasks("DCGM_FI_PROF_DRAM_ACTIVE", tasks=TASKS), _LEGEND),
                unit="percentunit",
                text="Near its maximum: the job waits for the GPU's memory. Lower precision helps.",
            )
        )
        .with_panel(
            lines(
                "Data to the GPU",
                Query(of_tasks("DCGM_FI_PROF_PCIE_RX_BYTES", tasks=TASKS), _LEGEND),
                unit="Bps",
                text="High with idle SMs: the job waits for copies. Low: it waits for its data loader or CPU.",
            )
        )
        .with_panel(
            lines(
                "SM clock",
                Query(of_tasks("DCGM_FI_DEV_SM_CLOCK", tasks=TASKS), _LEGEND),
                text="In MHz. Lower than on other nodes: the GPU is throttled.",
            )
        )
    )


def of_tasks(name: str, percent: str = "", *, tasks: str) -> str:
    """A field of the GPUs that tasks hold, by task and GPU.

    Args:
        percent: A field that takes its place where a GPU does not report it, in percent.
        tasks: Which tasks: a selection of `physical_ai:gpu_tasks`.
    """
    held = 'exported_namespace=~"$namespace",exported_pod!=""'
    field = f"{name}{{{held}}}" + (f" or {percent}{{{held}}} / 100" if percent else "")
    by_pod = f'label_replace(avg by (exported_pod, node, gpu) ({field}), "pod", "$1", "exported_pod", "(.+)")'
    return f"avg by (task, node, gpu) ({by_pod} * on (pod) group_left (task) max by (pod, task) ({tasks}))"


def _workflows() -> parts.dashboards.QueryVariable:
    # A Pod of no workflow has none of these labels, and is part of "All".
    series = 'kube_pod_labels{namespace=~"$namespace",label_osmo_workflow_id!=""}'
    return parts.choice("workflow", "label_osmo_workflow_id", series).all_value(".*")


def _recorded(measure: str) -> str:
    series = f'sum by (pod) (physical_ai:gpus_{measure}{{namespace=~"$namespace"}})'
    return f"{series} * on (pod) group_left (task) max by (pod, task) ({TASKS})"


def _hours(measure: str) -> str:
    series = f'sum by (pod) (sum_over_time(physical_ai:gpus_{measure}{{namespace=~"$namespace"}}[$__range])) / 60'
    tasks = TASKS.replace("physical_ai:gpu_tasks", "last_over_time(physical_ai:gpu_tasks") + "[$__range])"
    return f"sum by (task) ({series} * on (pod) group_left (task) max by (pod, task) ({tasks}))"
