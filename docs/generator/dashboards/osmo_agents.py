"""Dashboard of OSMO's agents in this cluster: whether they reach the API server and the service, and how long jobs
take.

Series: NVIDIA/OSMO src/operator/backend_listener.py and backend_worker.py, in the names that OpenTelemetry's exporter
for Prometheus gives them.
"""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from docs.generator.dashboards import parts
from docs.generator.dashboards.parts import Query, figures, lines, or_zero

_AGENTS = 'job=~".*/osmo-agents"'
_ALIVE = f"up{{{_AGENTS}}}"


def dashboard() -> Dashboard:
    return (
        parts.dashboard("physical-ai-osmo-agents", "OSMO: agents")
        .with_row(parts.row("Health"))
        .with_panel(figures("Agents that answer", Query(f"up{{{_AGENTS}}}", "{{pod}}"), text="1: scraped."))
        .with_panel(lines("Connections lost", _rate("websocket_disconnect_count_total"), text="To OSMO's service."))
        .with_panel(
            lines(
                "Watches of the API server that failed",
                _rate("event_watch_connection_error_count_total"),
            )
        )
        .with_row(parts.row("Events"))
        .with_panel(lines("Events of the API server", _rate("kb_event_watch_count_total"), unit="cps"))
        .with_panel(
            lines(
                "Messages for the service",
                _rate("backend_listener_queue_event_count_total"),
                unit="cps",
            )
        )
        .with_panel(
            lines(
                "Messages that wait",
                Query("sum by (queue_type) (backend_listener_queue_length_count)", "{{queue_type}}"),
                text="A queue that grows: the service does not take or acknowledge messages.",
            )
        )
        .with_row(parts.row("Time"))
        .with_panel(
            lines(
                "Time for an event",
                _mean("event_processing_times_seconds", "event_type"),
                unit="s",
                text="The mean. OSMO's buckets begin at 5 seconds, too coarse for percentiles.",
                width=12,
            )
        )
        .with_panel(
            lines(
                "Time for a job",
                _mean("backend_job_execution_time_seconds", "job_type"),
                unit="s",
                text="The mean; jobs create and remove the groups of a workflow.",
                width=12,
            )
        )
    )


def _rate(series: str) -> Query:
    """Query for the rate of a series by event type; 0 while the agents answer and have counted no event yet."""
    rates = f"sum by (event_type) (rate({series}[$__rate_interval]))"
    return Query(or_zero(rates, _ALIVE, "event_type"), "{{event_type}}")


def _mean(series: str, label: str) -> Query:
    total, count = (f"sum by ({label}) (rate({series}_{part}[$__range]))" for part in ("sum", "count"))
    return Query(or_zero(f"{total} / ({count} > 0)", _ALIVE, label), f"{{{{{label}}}}}")
