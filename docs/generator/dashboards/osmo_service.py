"""Dashboard of OSMO's service, where it runs in the cluster: tasks by state, and the queues of its workers.

Series: NVIDIA/OSMO src/service, in the names that OpenTelemetry's exporter for Prometheus gives them.
"""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, figures, lines, or_zero

_SERVICE = 'job=~".*/osmo-service"'
_MESSAGES = "sum by (type) (rate(osmo_backend_event_count_total[$__rate_interval]))"
_SECONDS = "sum by (type) (rate(osmo_backend_event_processing_time_seconds_total[$__rate_interval]))"
_ALIVE = f"up{{{_SERVICE}}}"
_HEARD = 'up{job=~".*/osmo-agent"}'
"""Query for the part of the service that agents are connected to; empty without a control plane in the cluster."""


def dashboard() -> Dashboard:
    return (
        parts.dashboard("physical-ai-osmo-service", "OSMO: service")
        .with_row(parts.row("Tasks"))
        .with_panel(
            lines(
                "Tasks by state",
                _tasks("status"),
                text="Active ones, and those that ended in the last five minutes.",
                stacked=True,
            )
        )
        .with_panel(lines("Tasks by pool", _tasks("pool"), stacked=True))
        .with_panel(figures("Tasks by user", _tasks("user")))
        .with_row(parts.row("Queues"))
        .with_panel(
            lines(
                "Jobs for the service's workers",
                Query("sum by (job_type) (osmo_service_worker_job_queue_length_count)", "{{job_type}}"),
            )
        )
        .with_panel(
            lines(
                "Jobs for the agents",
                Query("sum by (job_type) (osmo_backend_worker_job_queue_length_count)", "{{job_type}}"),
                text="A queue that grows: the agents' worker is gone, or the cluster refuses its objects.",
            )
        )
        .with_panel(lines("Delayed jobs", Query("sum(osmo_delayed_job_length_count)", "delayed")))
        .with_row(parts.row("Agents, as the service hears them"))
        .with_panel(
            lines(
                "Messages from the agents",
                Query(or_zero(_MESSAGES, _HEARD, "type"), "{{type}}"),
                unit="cps",
                width=12,
            )
        )
        .with_panel(
            lines(
                "Time for a message",
                Query(or_zero(f"{_SECONDS} / ({_MESSAGES} > 0)", _HEARD, "type"), "{{type}}"),
                unit="s",
                text="The mean.",
                width=12,
            )
        )
    )


def _tasks(label: str) -> Query:
    return Query(or_zero(f"sum by ({label}) (osmo_tasks_count)", _ALIVE, label), f"{{{{{label}}}}}")
