"""Pods of the GPU stack that fail on a node. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.kubernetes.objects import at, name, namespace
from physical_ai.readiness.evidence import last_line
from physical_ai.readiness.objects import owner
from physical_ai.readiness.phase import is_running, unfinished
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


def is_operand(pod: Mapping[str, Any]) -> bool:
    """True for a Pod of a DaemonSet in the GPU Operator's namespace."""
    return namespace(pod) == OPERATOR_NAMESPACE and bool(owner(pod))


def failing(pods: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """DaemonSet, name and last message of each failing Pod of the GPU Operator's DaemonSets. A Pod fails if its
    container ended with an error, or if the kubelet keeps restarting it.
    """
    found: list[tuple[str, str, str]] = []
    for pod in pods:
        if not is_operand(pod) or is_running(pod):
            continue
        container, status = unfinished(pod)
        waiting = str(at(status, "state.waiting.reason", ""))
        if waiting == "CrashLoopBackOff" or at(status, "state.terminated.exitCode", 0) != 0:
            ended = at(status, "lastState.terminated.message") or at(status, "state.terminated.message") or waiting
            found.append((owner(pod), name(pod), f"container {container}: {last_line(str(ended))}"))
    return found
