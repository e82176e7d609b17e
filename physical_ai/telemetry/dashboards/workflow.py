"""One workflow: whether its tasks use their GPUs, and if not, what they wait for."""

from __future__ import annotations

from physical_ai.telemetry.dashboards.model import Dashboard, Panel, Query, Row, Variable

_PODS = 'exported_namespace=~"$namespace",exported_pod=~"$pod"'
_EACH = "by (exported_pod, node, gpu)"
_LEGEND = "{{exported_pod}} {{gpu}}"
TARGET = 0.8
"""Share of time in which the SMs should be active."""


def _field(name: str) -> str:
    return f"avg {_EACH} ({name}{{{_PODS}}})"


_ACTIVE = f"avg {_EACH} (DCGM_FI_PROF_SM_ACTIVE{{{_PODS}}} or DCGM_FI_DEV_GPU_UTIL{{{_PODS}}} / 100)"

WORKFLOW = Dashboard(
    "workflow",
    "Workflow on GPUs",
    (
        Variable("namespace", "namespace", "kube_pod_info"),
        Variable("pod", "pod", 'kube_pod_info{namespace=~"$namespace"}'),
    ),
    (
        Row(
            "Use",
            (
                Panel(
                    "SM active",
                    (Query(_ACTIVE, _LEGEND),),
                    unit="percentunit",
                    target=TARGET,
                    text="Training should reach 80 %. Where a GPU reports no SM activity, its utilization.",
                    width=12,
                ),
                Panel(
                    "Tensor cores active",
                    (Query(_field("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), _LEGEND),),
                    unit="percentunit",
                    text="Low while SMs are active: the job computes without tensor cores, for example in FP32.",
                    width=12,
                ),
                Panel("Memory used", (Query(_field("DCGM_FI_DEV_FB_USED"), _LEGEND),), unit="mbytes"),
                Panel(
                    "GPUs held",
                    (Query('sum by (pod) (physical_ai:gpus_held{namespace=~"$namespace",pod=~"$pod"})', "{{pod}}"),),
                ),
                Panel(
                    "GPU-hours",
                    (
                        Query(
                            'sum by (pod) (sum_over_time(physical_ai:gpus_held{namespace=~"$namespace",pod=~"$pod"}'
                            "[$__range])) / 60",
                            "{{pod}} held",
                        ),
                        Query(
                            'sum by (pod) (sum_over_time(physical_ai:gpus_busy{namespace=~"$namespace",pod=~"$pod"}'
                            "[$__range])) / 60",
                            "{{pod}} busy",
                        ),
                    ),
                    unit="h",
                    kind="table",
                ),
            ),
        ),
        Row(
            "What starves it",
            (
                Panel(
                    "Memory bandwidth",
                    (Query(_field("DCGM_FI_PROF_DRAM_ACTIVE"), _LEGEND),),
                    unit="percentunit",
                    text="Near its maximum: the job waits for the GPU's memory. Lower precision helps.",
                ),
                Panel(
                    "Data to the GPU",
                    (Query(_field("DCGM_FI_PROF_PCIE_RX_BYTES"), _LEGEND),),
                    unit="Bps",
                    text="High with idle SMs: the job waits for copies. Low: it waits for its data loader or CPU.",
                ),
                Panel(
                    "Clock",
                    (Query(_field("DCGM_FI_DEV_SM_CLOCK"), _LEGEND),),
                    text="In MHz. Lower than on other nodes: the GPU is throttled.",
                ),
            ),
        ),
    ),
)
