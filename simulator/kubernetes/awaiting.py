"""Waits until an object in the API server is ready or deleted, and errors for objects that are not ready or deleted in
time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

from simulator.kubernetes.client import ApiError, Client
from simulator.kubernetes.jsonpath import JsonPathError
from simulator.kubernetes.objects import (
    SKIP_AWAIT,
    TIMEOUT,
    WAIT_FOR,
    Object,
    annotated,
    annotation,
    gvk_of,
    metadata,
    name_of,
    namespace_of,
)
from simulator.kubernetes.pods import pod_problems
from simulator.kubernetes.readiness import (
    DEFAULT_SECONDS,
    Surroundings,
    Waiting,
    awaited,
    blocking_finalizers,
    checked_in_refresh,
    limit,
    unready,
    waiting,
)
from simulator.kubernetes.wait_for import waiting_for
from simulator.wire import Refused

DELETE_SECONDS = 600

# pulumi-kubernetes, metadata/overrides.go: kinds for which skipAwait holds on deletion too (issues 1232, 3154).
_DELETE_UNAWAITED = frozenset(
    {
        ("", "Namespace"),
        ("", "Pod"),
        ("", "ReplicationController"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("batch", "Job"),
    }
)


class NotInTime(Exception):
    """Error if an object exists but is not ready in time. It contains the last state of the object, and the reasons why
    the object is not ready.
    """

    def __init__(self, live: Object, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.live, self.reasons = live, reasons


def seconds_for(obj: Mapping[str, Any], timeout: float, default: float = DEFAULT_SECONDS) -> float:
    """Seconds to wait: the resource's custom timeout, else its annotation, else the default."""
    if timeout:
        return timeout
    try:
        return float(annotation(obj, TIMEOUT) or default)
    except ValueError:
        return default


class Awaiter:
    """Waits by polling an API server. The pause between two polls grows from 0.03 to 0.5 seconds."""

    def __init__(self, client: Client, stopping: threading.Event, cancelled: threading.Event | None = None) -> None:
        """Creates the waiter.

        Args:
            client: Client of the API server.
            stopping: Event that ends every wait of the simulator at once when it is set.
            cancelled: Event that ends the waits of one provider instance after the current pause.
        """
        self._client, self._stopping, self._cancelled = client, stopping, cancelled or threading.Event()

    def ready(self, live: Object, inputs: Object, timeout: float) -> Object:
        """Waits until the object is ready, and returns it; raises NotInTime with the object's last state.

        `live`: the API server's answer to the change. If this object is already ready, no request is sent.
        """
        if annotated(inputs, SKIP_AWAIT) or not (awaited(live) or annotation(inputs, WAIT_FOR)):
            return live
        path, custom = self._path(live), bool(annotation(inputs, WAIT_FOR))
        seconds = (None if custom else limit(live)) or seconds_for(inputs, timeout)
        for left in self._polls(seconds):
            state = self._state(live, inputs)
            if state is None:
                return live
            if state.final or not left:
                headline = unready(live, final=state.final, custom=custom)
                raise NotInTime(live, [headline] if custom else [headline, *state.reasons, *self._causes(live)])
            live = self._client.find(path) or _vanished(live)
        raise AssertionError("the last poll returns or raises")

    def check(self, live: Object, inputs: Object) -> None:
        """Raises NotInTime if the object is not ready now. Does nothing for kinds that a refresh does not check."""
        if annotated(inputs, SKIP_AWAIT) or not checked_in_refresh(live):
            return
        state = waiting(live, self._surroundings(live))
        if state is not None:
            headline = unready(live, final=True, custom=False)
            raise NotInTime(live, [headline, *state.reasons, *self._causes(live)])

    def deleted(self, path: str, inputs: Object, timeout: float) -> None:
        """Waits until no object is at the path. If an object is still there after the time limit, raises Refused with
        the reason that blocks its deletion.
        """
        group, _, kind = gvk_of(inputs)
        if annotated(inputs, SKIP_AWAIT) and (group, kind) in _DELETE_UNAWAITED:
            return
        seconds = seconds_for(inputs, timeout, DELETE_SECONDS)
        uid = None
        for left in self._polls(seconds):
            live = self._client.find(path)
            if live is None or metadata(live).get("uid") != (uid or metadata(live).get("uid")):
                return
            uid = metadata(live).get("uid")
            if not left:
                held = blocking_finalizers(live)
                raise Refused(
                    f"Timed out after {seconds:g} s waiting for deletion of {inputs.get('apiVersion')}/{kind} "
                    f'"{name_of(live)}"' + (f" ({held})" if held else "")
                )

    def pause(self, seconds: float) -> None:
        """Sleeps for `seconds`; raises Refused if the simulator is stopped or the provider cancelled meanwhile."""
        if self._stopping.wait(seconds) or self._cancelled.is_set():
            raise Refused("the operation was cancelled")

    def _polls(self, seconds: float) -> Iterator[float]:
        """Yields before each poll the remaining seconds of the time limit `seconds`, and 0 before the last poll."""
        end, pause = time.monotonic() + seconds, 0.03
        while (left := end - time.monotonic()) > 0:
            yield left
            self.pause(min(pause, left))
            pause = min(pause * 1.4, 0.5)
        yield 0

    def _state(self, live: Object, inputs: Object) -> Waiting | None:
        conditions = annotation(inputs, WAIT_FOR)
        if conditions:
            try:
                return waiting_for(live, conditions)
            except (ValueError, JsonPathError) as problem:
                raise NotInTime(live, [f"annotation {WAIT_FOR}: {problem}"]) from None
        return waiting(live, self._surroundings(live))

    def _surroundings(self, live: Object) -> Surroundings:
        spec = cast("Object", live.get("spec") or {})
        if gvk_of(live) == ("", "v1", "Service") and spec.get("selector") and spec.get("clusterIP") != "None":
            return self._endpoints(live)
        if gvk_of(live) == ("", "v1", "PersistentVolumeClaim") and spec.get("storageClassName"):
            storage = self._client.find(f"/apis/storage.k8s.io/v1/storageclasses/{spec['storageClassName']}") or {}
            return Surroundings(binds_on_first_use=storage.get("volumeBindingMode") == "WaitForFirstConsumer")
        return Surroundings()

    def _endpoints(self, service: Object) -> Surroundings:
        found = self._client.find(f"/api/v1/namespaces/{namespace_of(service)}/endpoints/{name_of(service)}")
        subsets = cast("list[Object]", (found or {}).get("subsets") or [])
        return Surroundings(
            endpoints_known=found is not None,
            endpoints_ready=any(each.get("addresses") for each in subsets),
            endpoints_pending=any(each.get("notReadyAddresses") for each in subsets),
        )

    def _causes(self, live: Object) -> list[str]:
        """Problems of the Pods of a Deployment, a Job or a StatefulSet."""
        selector = _selector(live)
        pods = f"/api/v1/namespaces/{namespace_of(live)}/pods"
        return pod_problems(self._list(pods, {"labelSelector": selector})) if selector else []

    def _list(self, path: str, params: Mapping[str, str]) -> list[Object]:
        try:
            return cast("list[Object]", self._client.get(path, params).get("items") or [])
        except ApiError:
            # If the login may not list Pods, only the object's own reason is given.
            return []

    def _path(self, live: Object) -> str:
        return self._client.path(str(live["apiVersion"]), str(live["kind"]), namespace_of(live), name_of(live))


def _selector(obj: Object) -> str:
    """The label selector for the Pods of an object, as text for a query."""
    spec = cast("Object", obj.get("spec") or {})
    held: Any = spec.get("selector")
    if not isinstance(held, dict) or gvk_of(obj).kind not in ("Deployment", "Job", "StatefulSet"):
        return ""
    selector = cast("Object", held)
    terms = [f"{key}={value}" for key, value in cast("Object", selector.get("matchLabels") or {}).items()]
    for term in cast("list[Object]", selector.get("matchExpressions") or []):
        values = ",".join(term.get("values") or [])
        match term.get("operator"):
            case "In":
                terms.append(f"{term['key']} in ({values})")
            case "NotIn":
                terms.append(f"{term['key']} notin ({values})")
            case "Exists":
                terms.append(str(term["key"]))
            case _:
                terms.append(f"!{term['key']}")
    return ",".join(terms)


def _vanished(live: Object) -> Object:
    raise NotInTime(live, [f"'{name_of(live)}' was deleted while waiting for it"])
