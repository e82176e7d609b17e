"""Messages of the official plugin about a Pod that is not ready. Pure functions.

Source: pulumi-kubernetes, provider/pkg/await/checker/pod/check.go, 2026-07-01.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from simulator.kubernetes.objects import Object, name_of, namespace_of

READY = "ready"


def pod_problems(pods: Sequence[Object]) -> list[str]:
    """One line for each Pod whose containers do not run.

    A Pod without a node gets no line, because it counts as in progress.
    """
    return [state for pod in pods if (state := pod_state(pod)) not in ("", READY)]


def pod_state(pod: Object) -> str:
    """READY, or the reason why the Pod's containers do not run; empty while the Pod has no node or no status."""
    status = cast("Object", pod.get("status") or {})
    if _condition(status, "PodScheduled").get("status") != "True":
        return ""
    for kind in ("Initialized", "Ready"):
        condition = _condition(status, kind)
        if not condition:
            return ""
        ends = kind == "Ready" and status.get("phase") == "Succeeded"
        if condition.get("status") != "True" and not ends:
            return _problem(pod, status, condition)
    return READY


def _problem(pod: Object, status: Object, condition: Object) -> str:
    containers = cast("list[Object]", status.get("containerStatuses") or [])
    errors = "\n".join(line for each in containers if not each.get("ready") for line in _container(each))
    if not errors and not condition.get("message"):
        return ""
    namespace = namespace_of(pod)
    name = name_of(pod) if namespace in ("", "default") else f"{namespace}/{name_of(pod)}"
    said = str(condition["message"]) if condition.get("reason") and condition.get("message") else ""
    return f"[Pod {name}]: {said}{errors}"


def _container(status: Object) -> Iterator[str]:
    state = cast("Object", status.get("state") or {})
    waiting, ended = cast("Object", state.get("waiting") or {}), cast("Object", state.get("terminated") or {})
    last = cast("Object", cast("Object", status.get("lastState") or {}).get("terminated") or {})
    if waiting and waiting.get("reason") != "ContainerCreating":
        yield f"[{waiting.get('reason')}] {_trimmed(waiting.get('message'))}"
    if ended.get("reason"):
        if ended.get("message"):
            yield f"[{ended['reason']}] {_trimmed(ended['message'])}"
        else:
            yield f'container "{status.get("name")}" completed with exit code {ended.get("exitCode")}'
    if last:
        code = f"{last.get('reason', '')}: exit code {last.get('exitCode')}"
        yield f'container "{status.get("name")}" terminated at {last.get("finishedAt")} ({code})'
        if last.get("message"):
            yield str(last["message"])


def _trimmed(message: Any) -> str:
    """The message without the text that a container runtime adds to it if an image is missing."""
    text = str(message or "").removeprefix("rpc error: code = Unknown desc = Error response from daemon: ")
    return text.removesuffix(": manifest unknown")


def _condition(status: Object, kind: str) -> Object:
    held = cast("list[Object]", status.get("conditions") or [])
    return next((each for each in held if each.get("type") == kind), dict[str, Any]())
