"""Values that open the platform to networks outside of the cluster: refused, or named with their cost."""

from __future__ import annotations

import re
from typing import Any

import pytest

from physical_ai.catalog.compat.exposure import INTERNAL, RULE, judge_exposure
from physical_ai.catalog.compat.needs import RULE as NEEDED
from physical_ai.planning.chart_values import Owned
from physical_ai.planning.owned_values import OWNED_VALUES
from physical_ai.settings.faults import Fault
from tests.support.cases import in_one_test
from tests.support.judged_values import CHARTS, judged, known, nested

SERVICE = re.compile(r"(?i)(^|\.)[a-z]*service[a-z]*(\.[a-z]+)?\.type$|servicetype$")
SERVICE_MAP = re.compile(r"(?i)(^|\.)service$")
ROUTE_MAP = re.compile(r"(?i)(^|\.)(ingress|route|httproute)$")
SWITCH = re.compile(r"(?i)(ingress|route)(perreplica)?(\.main)?\.enabled$|(^|\.)enable(nodeport|ingress)$")
HOST_NETWORK = re.compile(r"(?i)hostnetwork(ing)?$")
INSIDE = {INTERNAL: "true"}
NOT_INGRESS = ("networkPolicy.ingress",)
"""Rules of a network policy, which make no Ingress."""


def cases(chart: str) -> list[tuple[str, Any]]:
    """Every key of a chart that could open something, with the value that does."""
    found: list[tuple[str, Any]] = []
    for path, kind in known(chart).items():
        if path.endswith(NOT_INGRESS):
            continue
        if SERVICE.search(path) and kind == "value":
            found += [(path, "LoadBalancer"), (path, "NodePort")]
        if SERVICE_MAP.search(path) and kind == "map":
            found += [(path, {"type": "LoadBalancer"}), (path, {"type": "NodePort"})]
        if ROUTE_MAP.search(path) and kind == "map":
            found += [(path, {"enabled": True}), (path, {"main": {"enabled": True}})][: 2 if "oute" in path else 1]
        if SWITCH.search(path) or HOST_NETWORK.search(path):
            found.append((path, True))
        if path.rpartition(".")[2] in ("extraObjects", "extraManifests"):
            manifest = {"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer"}}
            found += [(path, [manifest]), (path, [{"kind": "Ingress", "spec": {}}])]
    return found


def said(faults: list[Fault]) -> list[Fault]:
    """Those about what is open, and refusals of keys that the program sets or on which something depends."""
    return [each for each in faults if each.rule in (RULE, NEEDED) or "The program sets" in each.problem]


@in_one_test("chart", CHARTS)
def test_no_key_of_a_chart_opens_the_platform_without_a_word(chart: str) -> None:
    silent = [(path, value) for path, value in cases(chart) if not said(judged(chart, nested(path, value)))]
    assert silent == []


def test_most_charts_have_such_a_key_that_a_file_may_set() -> None:
    """So that the test above is about something."""
    free = {
        chart for chart in CHARTS for path, _ in cases(chart) if Owned(OWNED_VALUES[chart]).owner_of_any(path) is None
    }
    assert len(free) > 6, free


@in_one_test(
    ("values", "severity"),
    [
        ({"prometheus": {"service": {"type": "LoadBalancer"}}}, "error"),
        ({"prometheus": {"service": {"type": "LoadBalancer", "annotations": INSIDE}}}, "warning"),
        ({"prometheus": {"service": {"type": "LoadBalancer", "annotations": {INTERNAL: "false"}}}}, "error"),
        ({"prometheus": {"service": {"type": "LoadBalancer", "annotations": {"team": "vision"}}}}, "error"),
        ({"a": {"service": {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]}}}, "warning"),
        ({"a": {"service": {"type": "LoadBalancer", "loadBalancerSourceRanges": ["0.0.0.0/0"]}}}, "error"),
        ({"a": {"service": {"type": "LoadBalancer", "loadBalancerSourceRanges": []}}}, "error"),
        ({"webhook": {"serviceType": "LoadBalancer", "serviceAnnotations": INSIDE}}, "warning"),
        ({"alertmanager": {"service": {"type": "NodePort"}}}, "warning"),
        ({"loginsets": {"a": {"service": {"spec": {"type": "LoadBalancer"}}}}}, "error"),
        ({"service": {"metadata": {"annotations": INSIDE}, "spec": {"type": "LoadBalancer"}}}, "warning"),
        ({"a": {"b": {"c": {"d": {"service": {"type": "LoadBalancer"}}}}}}, "error"),
        ({"a": {"service": {"externalIPs": ["20.1.2.3"]}}}, "error"),
        ({"prometheus": {"ingress": {"enabled": True, "hosts": ["p.example"]}}}, "error"),
        (
            {"a": {"ingress": {"enabled": True, "annotations": {"nginx.ingress.kubernetes.io/auth-url": "https://x"}}}},
            "warning",
        ),
        ({"a": {"ingress": {"enabled": True, "annotations": {"kubernetes.io/ingress.class": "nginx"}}}}, "error"),
        ({"grafana": {"ingress": {"enabled": True}}}, "warning"),
        ({"prometheus": {"route": {"main": {"enabled": True}}}}, "error"),
        ({"hostNetwork": True}, "warning"),
        ({"ports": {"otlp": {"hostPort": 4317}}}, "warning"),
        ({"extraObjects": ["kind: Service\nspec:\n  type: LoadBalancer\n"]}, "error"),
        ({"extraManifests": {"mine": {"kind": "Service", "spec": {"type": "LoadBalancer"}}}}, "error"),
        ({"extraManifests": {"mine": {"kind": "Ingress", "spec": {"rules": []}}}}, "error"),
        ({"extraObjects": [{"metadata": {"annotations": INSIDE}, "spec": {"type": "LoadBalancer"}}]}, "warning"),
    ],
)
def test_what_restricts_a_service_decides_between_an_error_and_a_warning(values: Any, severity: str) -> None:
    (finding,) = judge_exposure(values)
    assert finding.severity.value == severity
    assert finding.fix
    assert finding.source


@pytest.mark.parametrize(
    "values",
    [
        {"prometheus": {"service": {"type": "ClusterIP", "nodePort": 30090}}},
        {"prometheus": {"ingress": {"enabled": False}}},
        {"ingress": {"tls": {"enabled": True}}},
        {"hostNetwork": False},
        {"ports": {"otlp": {"hostPort": 0}}},
        {"containerMode": {"type": "kubernetes"}},
        {"networkPolicy": {"enabled": True, "ingress": [{"ports": [{"port": 1}]}]}},
        {"extraObjects": [{"kind": "ConfigMap", "data": {"a": "b"}}]},
    ],
)
def test_what_opens_nothing_is_not_named(values: Any) -> None:
    assert list(judge_exposure(values)) == []


def test_the_nearest_key_is_not_advised_where_its_value_would_be_refused() -> None:
    texts = [each.fix or "" for each in judged("longhorn", nested("service.ui.typ", "LoadBalancer"))]
    assert texts
    assert all(not text.startswith("Did you mean") for text in texts)


def test_what_a_refused_service_advises_is_accepted() -> None:
    """An advice that is refused in turn would help nobody."""
    open_ = nested("service.ui.type", "LoadBalancer")
    (fault,) = judged("longhorn", open_)
    assert fault.is_error
    assert "ClusterIP" in (fault.fix or "")
    assert judged("longhorn", nested("service.ui.type", "ClusterIP")) == []
    inside = {"service": {"ui": {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]}}}
    assert [each.is_error for each in judged("longhorn", inside)] == [False]
