"""Alertmanager's configuration: the configuration of the cluster's Alertmanager with shorter times, and with the
exporters' server as the only receiver. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from simulator.cluster.objects import Json
from simulator.metrics.scraping import duration
from simulator.metrics.speed import seconds

NOTIFICATIONS = "notifications"
"""Path at the exporters' server to which Alertmanager posts notifications; the real receivers get none."""
TIMES = ("group_wait", "group_interval", "repeat_interval")
_CHANNELS = "_configs"
"""Ending of the keys of a receiver that hold lists of channels, such as `webhook_configs`."""


def configuration(given: Json | None, factor: float, interval_seconds: float, exporters: str) -> Json:
    """Configuration of the running Alertmanager.

    Args:
        given: Configuration of the cluster's Alertmanager. With None, Alertmanager lists alerts and sends no
            notifications.
        factor: Number by which all times are divided.
        interval_seconds: Real seconds between two evaluations of rules.
        exporters: Address of the exporters' server, which gets the notifications for all receivers.
    """
    if given is None:
        interval = duration(interval_seconds)
        route = {"receiver": "none", "group_by": ["..."], "group_wait": interval, "group_interval": interval}
        return {"route": {**route, "repeat_interval": "24h"}, "receivers": [{"name": "none"}]}
    # Global settings are about channels, which are not used; templates are files that do not exist here.
    rest = {key: value for key, value in given.items() if key not in ("global", "templates")}
    receivers = [_receiver(each, exporters) for each in given.get("receivers") or ()]
    return {**rest, "route": _route(given.get("route") or {}, factor), "receivers": receivers}


def _route(route: Mapping[str, Any], factor: float) -> Json:
    times = {key: duration(seconds(str(route[key])) / factor) for key in TIMES if key in route}
    below = {"routes": [_route(each, factor) for each in route["routes"]]} if route.get("routes") else {}
    return {**route, **times, **below}


def _receiver(receiver: Mapping[str, Any], exporters: str) -> Json:
    """The receiver with a webhook to the exporters' server in place of each of its channels."""
    url = f"http://{exporters}/{NOTIFICATIONS}/{quote(str(receiver['name']), safe='')}"
    channels = [{"url": url, "send_resolved": bool(each.get("send_resolved", True))} for each in _channels(receiver)]
    return {"name": receiver["name"], **({"webhook_configs": channels} if channels else {})}


def _channels(receiver: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key, value in receiver.items():
        if key.endswith(_CHANNELS):
            yield from value or ()
