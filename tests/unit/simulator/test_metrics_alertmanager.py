"""The simulator's Alertmanager: its configuration is the one in the cluster, and nobody outside is notified."""

from __future__ import annotations

import base64
import http.client
import json
from pathlib import Path
from typing import Any, cast

import pytest

from parts.kube_prometheus.names import ALERTMANAGER_KEY, ALERTMANAGER_SECRET
from parts.kube_prometheus.plan import alertmanager_config
from physical_ai import safe_yaml
from physical_ai.settings import Overlay, load
from simulator.errors import SimulationError
from simulator.kubernetes.client import Client
from simulator.metrics import alertmanager, collector, server
from simulator.metrics.exporters import UNKNOWN

Json = dict[str, Any]
EXPORTERS = "127.0.0.1:1"
RECEIVERS = (
    "monitoring.receivers={team: {email: team@contoso.com}, pager: {webhookSecret: url, severities: [critical]}}"
)
SMTP = "monitoring.smtp={host: 'smtp.contoso.com:587', sender: a@contoso.com, username: u, passwordSecret: password}"


def of_stack() -> Json:
    settings = load("dev-westus2", [Overlay.assign(["monitoring.metrics=kube-prometheus", RECEIVERS, SMTP])]).settings
    return alertmanager_config(settings.monitoring, {"url": "https://pager.example/t0ken", "password": "pa55"})


def secret(text: str, key: str = ALERTMANAGER_KEY) -> Json:
    metadata = {"name": ALERTMANAGER_SECRET, "namespace": "monitoring"}
    return {"metadata": metadata, "data": {key: base64.b64encode(text.encode()).decode()}}


def test_routes_and_inhibition_are_those_of_the_cluster_and_times_are_shorter() -> None:
    given = of_stack()
    found = alertmanager.configuration(given, 20, 0.5, EXPORTERS)
    assert found["inhibit_rules"] == given["inhibit_rules"]
    assert found["route"]["routes"] == given["route"]["routes"]
    assert found["route"]["group_by"] == given["route"]["group_by"]
    times = [found["route"][key] for key in alertmanager.TIMES]
    assert times == ["1500ms", "15000ms", "2160000ms"]


def test_no_receiver_keeps_a_channel_of_its_own() -> None:
    found = alertmanager.configuration(of_stack(), 20, 0.5, EXPORTERS)
    sent = {
        each["name"]: [channel["url"] for channel in each.pop("webhook_configs", [])] for each in found["receivers"]
    }
    own = f"http://{EXPORTERS}/notifications/"
    assert sent == {"nobody": [], "team": [f"{own}team"], "pager": [f"{own}pager"]}
    text = json.dumps(found)
    assert not any(each in text for each in ("contoso", "pager.example", "pa55", "smtp"))


def test_times_of_nested_routes_are_shorter_as_well() -> None:
    given = {"route": {"receiver": "a", "routes": [{"receiver": "a", "routes": [{"repeat_interval": "1h30m"}]}]}}
    found = alertmanager.configuration(given, 60, 0.5, EXPORTERS)
    assert found["route"]["routes"][0]["routes"] == [{"repeat_interval": "90000ms"}]


def test_without_a_configuration_alerts_are_listed_and_not_sent() -> None:
    found = alertmanager.configuration(None, 20, 0.5, EXPORTERS)
    assert (found["receivers"], found["route"]["receiver"]) == ([{"name": "none"}], "none")


class Cluster:
    """An API server with these Alertmanagers, and Secrets by path."""

    def __init__(self, secrets: Json, *found: Json) -> None:
        self._items, self._secrets = list(found), secrets

    def resource(self, group: str, kind: str) -> object:
        return (group, kind)

    def get(self, path: str) -> Json:
        if path.endswith("/prometheuses"):
            return {"items": [{"metadata": {"name": "p-prometheus", "namespace": "monitoring"}, "spec": {}}]}
        return {"items": self._items if path.endswith("/alertmanagers") else []}

    def find(self, path: str) -> Json | None:
        return self._secrets.get(path)


SECRETS = "/api/v1/namespaces/monitoring/secrets"
HERE = {"name": "kp-alertmanager", "namespace": "monitoring"}
ROUTE = {"route": {"receiver": "a"}}


@pytest.mark.parametrize(
    ("items", "place", "key", "expected"),
    [
        ([{"metadata": HERE, "spec": {"configSecret": "own"}}], "own", ALERTMANAGER_KEY, ROUTE),
        ([{"metadata": HERE, "spec": {}}], "alertmanager-kp-alertmanager", ALERTMANAGER_KEY, ROUTE),
        ([{"metadata": HERE, "spec": {"configSecret": "own"}}], "other", ALERTMANAGER_KEY, None),
        ([{"metadata": HERE, "spec": {"configSecret": "own"}}], "own", "alertmanager.yml", None),
        ([], "own", ALERTMANAGER_KEY, None),
    ],
)
def test_the_configuration_is_in_the_secret_that_the_object_names(
    items: list[Json], place: str, key: str, expected: Json | None
) -> None:
    cluster = Cluster({f"{SECRETS}/{place}": secret(safe_yaml.dump(ROUTE), key)}, *items)
    found = collector.collected(cast("Client", cluster), "aks", {})
    assert found is not None
    assert found.alertmanager == expected


def test_a_secret_without_yaml_is_named() -> None:
    given = {"metadata": HERE, "spec": {"configSecret": "own"}}
    cluster = Cluster({f"{SECRETS}/own": secret("{")})
    with pytest.raises(SimulationError, match="Secret monitoring/own has no YAML"):
        collector.alertmanager_of(given, cast("Client", cluster))


def test_what_receivers_would_have_got_is_kept(tmp_path: Path) -> None:
    serving = server.serve(lambda path, host: UNKNOWN, tmp_path)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", serving.server_address[1], timeout=10)

        def post(path: str, body: str) -> int:
            connection.request("POST", path, body)
            answer = connection.getresponse()
            answer.read()
            return answer.status

        one = {"status": "firing", "alerts": [{"labels": {"alertname": "A"}}], "version": "4"}
        assert post("/notifications/on%20call", json.dumps(one)) == 200
        assert [post("/notifications/a", each) for each in ("{", "[]", "{}")] == [400, 400, 400]
        assert post("/elsewhere", json.dumps(one)) == 400
        connection.request("GET", "/notifications")
        assert json.loads(connection.getresponse().read()) == [
            {"receiver": "on call", "status": "firing", "alerts": one["alerts"]}
        ]
    finally:
        serving.shutdown()
        serving.server_close()
