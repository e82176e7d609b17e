"""Dashboard with the resources of one task, to which OSMO's own pages link.

OSMO appends `var-namespace`, `var-uuid`, `from` and `to` to `grafana_url` of the backend, and its own dashboard has
the uid `workflow_resources` (NVIDIA/OSMO src/service/core/workflow/helpers.py; docs/deployment_guide). This dashboard
takes these variables and has that uid.
"""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, lines
from docs.generator.dashboards.workflow import limited_by, of_tasks
from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE

UID = "workflow_resources"
REASONS = {"heat": (0x20, 0x40), "power": (0x4, 0x80), "hardware": (0x8,)}
"""Bits of DCGM's field for clock event reasons (NVML, clocks event reasons), by group.

`heat`: thermal slowdown by software and by hardware.
`power`: power cap and power brake.
`hardware`: hardware slowdown. The bit 1, in no group, is an idle GPU.
"""
_PODS = 'namespace=~"$namespace",pod=~".*($uuid)"'
_CONTAINERS = f'{_PODS},container!="",container!="POD"'
TASKS = f"physical_ai:gpu_tasks{{{_PODS}}}"
_LEGEND, _GPU = "{{pod}} {{container}}", "{{task}} GPU {{gpu}}"


def dashboard() -> Dashboard:
    cpu = f"sum by (pod, container) (rate(container_cpu_usage_seconds_total{{{_CONTAINERS}}}[$__rate_interval]))"
    memory = f"sum by (pod, container) (container_memory_working_set_bytes{{{_CONTAINERS}}})"
    return (
        parts.dashboard(UID, "OSMO: resources of a task")
        .with_variable(parts.choice("namespace", "namespace", "kube_pod_info", first=WORKFLOWS_NAMESPACE))
        .with_variable(parts.choice("uuid", "pod", 'kube_pod_info{namespace=~"$namespace"}'))
        .with_row(parts.row("CPU and memory"))
        .with_panel(
            lines(
                "CPUs",
                Query(cpu, f"{_LEGEND} used"),
                Query(_requested("cpu"), f"{_LEGEND} requested"),
                width=12,
            )
        )
        .with_panel(
            lines(
                "Memory",
                Query(memory, f"{_LEGEND} used"),
                Query(_requested("memory"), f"{_LEGEND} requested"),
                unit="bytes",
                width=12,
            )
        )
        .with_row(parts.row("GPUs"))
        .with_panel(
            lines(
                "GPU engine active",
                Query(of_tasks("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_UTIL", tasks=TASKS), _GPU),
                unit="percentunit",
            )
        )
        .with_panel(
            lines("SM active", Query(of_tasks("DCGM_FI_PROF_SM_ACTIVE", tasks=TASKS), _GPU), unit="percentunit")
        )
        .with_panel(
            lines(
                "GPU memory active", Query(of_tasks("DCGM_FI_PROF_DRAM_ACTIVE", tasks=TASKS), _GPU), unit="percentunit"
            )
        )
        .with_panel(
            lines("GPU memory used", Query(of_tasks("DCGM_FI_DEV_FB_USED", tasks=TASKS), _GPU), unit="mbytes", width=12)
        )
        .with_panel(
            lines(
                "Clock limited",
                *(Query(limited_by(bits, tasks=TASKS), f"{{{{task}}}} {name}") for name, bits in REASONS.items()),
                unit="percentunit",
                text="Share of the task's GPUs whose clock is lower for this reason. Idle GPUs are not counted.",
                width=12,
            )
        )
    )


def _requested(resource: str) -> str:
    series = f'kube_pod_container_resource_requests{{{_PODS},resource="{resource}"}}'
    return f"sum by (pod, container) ({series})"
