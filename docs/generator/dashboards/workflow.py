"""Dashboard of one workflow: whether its tasks use their GPUs, and if not, what they wait for."""

from __future__ import annotations

from collections.abc import Sequence

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, figures, lines

TARGET = 0.8
"""Target for the share of time in which a task's SMs are active."""
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
        .with_panel(lines("GPUs held", Query(f"sum by (task) ({_recorded('held')})", "{{task}}"), stacked=True))
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
                Query(f"{of_tasks('DCGM_FI_DEV_SM_CLOCK', tasks=TASKS)} * 1e6", _LEGEND),
                unit="hertz",
                text="Lower than on other nodes: the GPU is limited by heat or power.",
            )
        )
    )


def of_tasks(name: str, percent: str = "", *, tasks: str) -> str:
    """Query for a DCGM field of the GPUs that tasks hold, by task and GPU.

    Args:
        name: The field.
        percent: Another field, in percent, for GPUs that do not report `name`.
        tasks: Selection of the tasks: a query for `physical_ai:gpu_tasks`.
    """
    held = 'exported_namespace=~"$namespace",exported_pod!=""'
    field = f"{name}{{{held}}}" + (f" or {percent}{{{held}}} / 100" if percent else "")
    labels = "cluster, exported_namespace, exported_pod, node, gpu"
    return f"avg by (task, node, gpu) ({_with_task(f'avg by ({labels}) ({field})', tasks)})"


def limited_by(bits: Sequence[int], *, tasks: str) -> str:
    """Query for the share of each task's GPUs whose clock is reduced for any of these reasons.

    The field is a bit mask, so its mean has no meaning: the query takes it apart. The field has two names, and an
    exporter has one of them or both.
    """
    held = 'exported_namespace=~"$namespace",exported_pod!=""'
    labels = "cluster, exported_namespace, exported_pod, node, gpu"
    new, old = (f"max by ({labels}) (DCGM_FI_DEV_CLOCK{name}_REASONS{{{held}}})" for name in ("S_EVENT", "_THROTTLE"))
    counted = " + ".join(f"floor(({new} or {old}) / {bit}) % 2" for bit in bits)
    return f"avg by (task) ({_with_task(f'({counted}) > bool 0', tasks)})"


def _with_task(series: str, tasks: str) -> str:
    """Query for a series of the exporter by Pod, with the label `task` of that Pod's task."""
    named = f'label_replace({series}, "namespace", "$1", "exported_namespace", "(.+)")'
    named = f'label_replace({named}, "pod", "$1", "exported_pod", "(.+)")'
    return f"{named} * on (cluster, namespace, pod) group_left (task) max by (cluster, namespace, pod, task) ({tasks})"


def _workflows() -> parts.dashboards.QueryVariable:
    # "All" includes Pods of no workflow, which have none of these labels.
    series = 'kube_pod_labels{namespace=~"$namespace",label_osmo_workflow_id!=""}'
    return parts.choice("workflow", "label_osmo_workflow_id", series).all_value(".*")


def _recorded(measure: str) -> str:
    series = f'sum by (cluster, namespace, pod) (physical_ai:gpus_{measure}{{namespace=~"$namespace"}})'
    return _of_task(series, TASKS)


def _hours(measure: str) -> str:
    held = f'sum_over_time(physical_ai:gpus_{measure}{{namespace=~"$namespace"}}[$__range])'
    series = f"sum by (cluster, namespace, pod) ({held}) / 60"
    tasks = TASKS.replace("physical_ai:gpu_tasks", "last_over_time(physical_ai:gpu_tasks") + "[$__range])"
    return f"sum by (task) ({_of_task(series, tasks)})"


def _of_task(series: str, tasks: str) -> str:
    """Query for a series by Pod, with the label `task`; joined by cluster and namespace too, since Pods of one name
    can be in several of them.
    """
    return f"{series} * on (cluster, namespace, pod) group_left (task) max by (cluster, namespace, pod, task) ({tasks})"
