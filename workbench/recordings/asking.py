"""Reading of a cluster for a recording. Lists that are missing because of limits or rights are noted in the
recording.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import at, name, namespace
from physical_ai.nested import mappings
from physical_ai.readiness.answers import FORBIDDEN, Get, Missing, Unreachable
from physical_ai.readiness.phase import is_running
from workbench.recordings.form import PART, Entry
from workbench.recordings.questions import ASKED, LEFT_OUT, LOG_LINES, MOST_LOGS, OTHER_GROUPS, Limits

NOT = "not recorded: "
Say = Callable[[str], None]


class Bounded:
    """Reader of a cluster that counts requests and bytes, and refuses every request after a limit is reached."""

    def __init__(
        self, get: Get, limits: Limits, clock: Callable[[], float] = time.monotonic, until: float | None = None
    ) -> None:
        self._get, self._limits, self._clock = get, limits, clock
        self._until = clock() + limits.seconds if until is None else until
        self.requests, self.bytes = 0, 0

    @property
    def logs(self) -> bool:
        """True if the recording includes logs of Pods."""
        return self._limits.logs

    @property
    def reached(self) -> str:
        """Text that names the limit that has been reached; empty if no limit has been reached."""
        if self._clock() > self._until:
            return f"{self._limits.seconds:g} s are over"
        if self.requests >= self._limits.requests:
            return f"{self._limits.requests:,} requests were sent"
        return f"{self._limits.mebibytes} MiB are full" if self.bytes >= self._limits.mebibytes << 20 else ""

    def __call__(self, path: str, parameters: Mapping[str, str]) -> Any:
        """The API server's answer to a request. Raises Unreachable if a limit has been reached, and every error of the
        client.
        """
        if reached := self.reached:
            raise Unreachable(f"not read any more: {reached}")
        self.requests += 1
        answer = self._get(path, parameters)
        self.bytes += size_of(answer)
        return answer


def size_of(answer: Any) -> int:
    """Approximate size of a decoded answer in bytes: the length of its texts, and a few bytes for each value."""
    total, stack = 0, [answer]
    while stack:
        value = stack.pop()
        total += len(value) + 3 if isinstance(value, str) else 4
        if isinstance(value, dict):
            total += sum(len(str(key)) + 4 for key in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - decoded JSON
            stack.extend(value.values())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] - as above
        elif isinstance(value, list):
            stack.extend(value)  # pyright: ignore[reportUnknownArgumentType] - as above
    return total


def cluster_entries(get: Bounded, say: Say) -> Iterator[Entry]:
    """Entries about the cluster: API discovery, and every list that is not in `LEFT_OUT`. If the recording includes
    logs, also the logs of containers that failed or are not ready.
    """
    paths: list[str] = []
    yield from _discovered(get, paths)
    pods: Sequence[Mapping[str, Any]] = ()
    to_read = [*paths, *(each for each in ASKED if each not in paths and _resource(each) not in LEFT_OUT)]
    for number, path in enumerate(to_read):
        say(f"cluster: {number + 1} of {len(to_read)} lists, {get.bytes >> 20} MiB")
        try:
            items: list[Mapping[str, Any]] = get(path, {}).get("items") or []
        except Missing:
            continue
        except Unreachable as problem:
            yield _not_read(path, problem)
            continue
        items = sorted(items, key=lambda each: (namespace(each), name(each)))
        if path == "/api/v1/pods":
            pods = items
        for start in range(0, max(len(items), 1), PART):
            yield {"kind": "list", "path": path, "items": items[start : start + PART]}
    if get.logs:
        yield from _logs(get, pods, say)
    else:
        yield {"kind": "unread", "what": "logs of containers", "reason": "--logs was not given"}


def _not_read(path: str, problem: Unreachable) -> Entry:
    if problem.status in (FORBIDDEN, 401):
        return {"kind": "refused", "path": path, "status": FORBIDDEN, "text": str(problem)}
    return {"kind": "refused", "path": path, "status": problem.status, "text": f"{NOT}{str(problem).removeprefix(NOT)}"}


def _resource(path: str) -> str:
    return path.rpartition("/")[2]


def _discovered(get: Bounded, paths: list[str]) -> Iterator[Entry]:
    """Entries about the API's groups and versions. Appends the paths of the lists to be read to `paths`."""
    groups: list[Mapping[str, Any]] = []
    for path in ("/version", "/api/v1", "/apis"):
        try:
            answer = get(path, {})
        except (Missing, Unreachable) as problem:
            yield {"kind": "unread", "what": path, "reason": str(problem)}
            continue
        yield {"kind": "discovery", "path": path, "answer": answer}
        if path == "/api/v1":
            paths += _lists(path, answer)
        elif path == "/apis":
            groups = list(answer.get("groups") or ())
    for group in sorted(groups, key=lambda each: str(each.get("name"))):
        version = at(group, "preferredVersion.groupVersion") or _first_version(group)
        if not version or group.get("name") in OTHER_GROUPS:
            continue
        path = f"/apis/{version}"
        try:
            answer = get(path, {})
        except (Missing, Unreachable) as problem:
            yield {"kind": "unread", "what": path, "reason": str(problem)}
            continue
        yield {"kind": "discovery", "path": path, "answer": answer}
        paths += _lists(path, answer)


def _first_version(group: Mapping[str, Any]) -> Any:
    return next((each.get("groupVersion") for each in mappings(group.get("versions"))), None)


def _lists(path: str, answer: Mapping[str, Any]) -> list[str]:
    found: list[Mapping[str, Any]] = answer.get("resources") or []
    names = [
        str(each["name"]) for each in found if "list" in (each.get("verbs") or ("list",)) and "/" not in each["name"]
    ]
    return [f"{path}/{each}" for each in sorted(names) if each not in LEFT_OUT]


def _logs(get: Bounded, pods: Sequence[Mapping[str, Any]], say: Say) -> Iterator[Entry]:
    """Entries with the last log lines of containers that failed or are not ready. A container that failed and waits for
    a restart has two entries: one for the run before its latest one, and one for its latest run.
    """
    containers = [(pod, *each) for pod in sorted(pods, key=_created, reverse=True) for each in _ended_badly(pod)]
    if len(containers) > MOST_LOGS:
        yield {
            "kind": "unread",
            "what": f"logs of {len(containers) - MOST_LOGS} containers",
            "reason": "there are too many",
        }
    for number, (pod, container, previous) in enumerate(containers[:MOST_LOGS]):
        say(f"cluster: {number + 1} of {min(len(containers), MOST_LOGS)} logs")
        parameters = {"container": container, "tailLines": LOG_LINES} | ({"previous": "true"} if previous else {})
        fields = {"namespace": namespace(pod), "pod": name(pod), "container": container, "previous": previous}
        try:
            text = get(f"/api/v1/namespaces/{namespace(pod)}/pods/{name(pod)}/log", parameters)
        except Missing:
            continue
        except Unreachable as problem:
            yield {"kind": "unread", "what": "further logs of containers", "reason": str(problem)}
            return
        yield {"kind": "log", **fields, "text": text if isinstance(text, str) else ""}


def _created(pod: Mapping[str, Any]) -> str:
    return str(at(pod, "metadata.creationTimestamp", ""))


def _ended_badly(pod: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Containers of a Pod whose logs are recorded: the name of the container, and True for the log of its previous run
    or False for the log of its latest run.
    """
    if at(pod, "status.phase") == "Succeeded" or not at(pod, "spec.nodeName"):
        return
    for status in (*at(pod, "status.initContainerStatuses", []), *at(pod, "status.containerStatuses", [])):
        failed = any(at(status, f"{key}.terminated.exitCode", 0) != 0 for key in ("state", "lastState"))
        waits = at(status, "state.waiting") is not None
        if failed:
            yield from ((str(status["name"]), previous) for previous in ((True, False) if waits else (False,)))
        elif not is_running(dict(pod)) and at(status, "state.running") is not None and not status.get("ready"):
            yield str(status["name"]), False
