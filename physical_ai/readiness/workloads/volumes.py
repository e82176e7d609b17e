"""Explanations of volumes that keep a Pod from a node. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import condition, name, namespace
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import Explanation


def volume_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations from the scheduler's message, if it is about a volume."""
    message = str(condition(pod, "PodScheduled").get("message", ""))
    cause_and_facts = workload_cause_of("volume", message)
    if cause_and_facts is not None:
        facts = {"namespace": namespace(pod), "pod": name(pod), **cause_and_facts[1]}
        yield index.explanation(
            subject(pod), cause_and_facts[0].id, "volume", message, "condition PodScheduled", **facts
        )
