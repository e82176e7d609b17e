"""The model of OSMO's service chart makes the objects that the chart was seen to make, and needs what it needs."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.simulator.test_osmo_chart_models import key, ordered, render
from tests.support.charts import Refused, one
from tests.unit.settings.test_osmo_access import ACCESS
from tests.unit.settings.test_service_chart import values

Json = dict[str, Any]
RECORDED: Json = json.loads((Path(__file__).parents[1] / "fixtures/osmo/6.3.1/chart-values-service.json").read_text())
SKETCH: Json = RECORDED["sketch"]
CHART = ("service", "1.3.1", SKETCH["release"], SKETCH["namespace"])


def sketched() -> Json:
    given = copy.deepcopy(SKETCH["values"])
    for section in ("podTemplates", "resourceValidations", "backends", "pools"):
        given["services"]["configs"].pop(section)  # the recording has a text in their place
    return given


def test_the_model_makes_the_recorded_objects() -> None:
    assert ordered([key(each) for each in render(CHART, sketched())]) == ordered(SKETCH["objects"])


def test_services_scale_by_memory_and_cpu_and_a_job_monitor_has_the_resources_of_the_core_service() -> None:
    """Read in NVIDIA/OSMO 6.3.1, deployments/charts/service/templates."""
    given, wanted = sketched(), {"requests": {"cpu": "250m"}}
    given["services"].setdefault("service", {})["resources"] = wanted
    given["services"].setdefault("delayedJobMonitor", {})["resources"] = {"requests": {"cpu": "1"}}
    objects = render(CHART, given)
    scalers = [each for each in objects if each["kind"] == "HorizontalPodAutoscaler"]
    assert {each["metadata"]["name"] for each in scalers} >= {
        "osmo-agent",
        "osmo-logger",
        "osmo-router",
        "osmo-service",
    }
    for each in scalers:
        metrics = [metric["containerResource"]["name"] for metric in each["spec"]["metrics"]]
        assert sorted(metrics) == ["cpu", "memory"], each["metadata"]["name"]
    resources = {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0].get("resources")
        for each in objects
        if each["kind"] == "Deployment"
    }
    assert resources["osmo-delayed-job-monitor"] == resources["osmo-service"] == wanted


def test_each_deployment_needs_what_it_was_seen_to_need() -> None:
    needed: dict[tuple[str, str], set[str]] = {}
    for each in render(CHART, sketched()):
        if each["kind"] != "Deployment":
            continue
        spec = each["spec"]["template"]["spec"]
        for volume in spec.get("volumes", []):
            for field, kind, name in (("secret", "Secret", "secretName"), ("configMap", "ConfigMap", "name")):
                if field in volume:
                    needed.setdefault((kind, volume[field][name]), set()).add(each["metadata"]["name"])
        for variable in spec["containers"][0].get("env", []):
            if given := variable.get("valueFrom", {}).get("secretKeyRef"):
                needed.setdefault(("Secret", given["name"]), set()).add(each["metadata"]["name"])
    for item in SKETCH["must_pre_exist"]:
        users = {user.partition("/")[2] for user in item["used_by"]}
        assert users <= needed[item["kind"], item["name"]], item["name"]


def test_with_a_login_the_gateway_has_its_proxy_and_its_rules() -> None:
    found = {(each["kind"], each["metadata"]["name"]) for each in render(CHART, values(ACCESS))}
    assert {("Deployment", "osmo-gateway-oauth2-proxy"), ("Deployment", "osmo-gateway-authz")} <= found
    assert ("NetworkPolicy", "osmo-gateway-allow-envoy-to-osmo-agent") in found


def test_what_later_charts_have_is_refused() -> None:
    with pytest.raises(Refused, match="backendApiTokens"):
        render(CHART, {"services": {"backendApiTokens": {"enabled": True}}})


def test_a_renewed_certificate_reaches_envoy_by_the_folder_that_it_watches() -> None:
    """Envoy watches the folder of the files that a secret names, and kubelet renews mounts of whole volumes only."""
    objects = render(CHART, values(ACCESS))
    config = one(objects, "ConfigMap", "osmo-gateway-envoy-config")["data"]
    (secret,) = yaml.safe_load(config["sds_downstream_tls.yaml"])["resources"]
    folders = {str(Path(each["filename"]).parent) for each in secret["tls_certificate"].values()}
    spec = one(objects, "Deployment", "osmo-gateway-envoy")["spec"]["template"]["spec"]
    (mount,) = [each for each in spec["containers"][0]["volumeMounts"] if each["mountPath"] in folders]
    assert "subPath" not in mount
    (volume,) = [each for each in spec["volumes"] if each["name"] == mount["name"]]
    assert volume["secret"]["secretName"] == "osmo-gateway-tls"
