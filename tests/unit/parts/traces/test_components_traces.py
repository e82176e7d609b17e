"""The collector of traces: what is declared, who may reach it, and where secrets are."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.recording import Recording
from tests.unit.conftest import Simulate

AZURE = {"connectionSecret": "insights"}
OTHER = {"endpoint": "https://otlp.contoso.com:4443/in", "headerSecrets": {"api-key": "tracesKey"}}
SECRETS = {"insights": "InstrumentationKey=0;IngestionEndpoint=https://a.b", "tracesKey": "word"}


def traced(simulate: Simulate, traces: dict[str, Any]) -> Recording:
    return simulate("dev-westus2", {"monitoring": {"traces": traces}, "secrets": SECRETS})


def configuration(found: Recording) -> dict[str, Any]:
    return found.resource("Release", "physical-ai-traces-release").inputs["values"]["alternateConfig"]


def test_there_is_no_collector_unless_asked_for(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert "telemetry" not in [each.inputs["metadata"]["name"] for each in found.of_type("Namespace")]
    assert "addonProfiles" not in found.of_type("ManagedCluster")[0].inputs


@pytest.mark.parametrize(
    ("traces", "exporter", "variables"),
    [
        (AZURE, {"azuremonitor": {}}, {"APPLICATIONINSIGHTS_CONNECTION_STRING": SECRETS["insights"]}),
        (
            OTHER,
            {"otlp_http": {"endpoint": OTHER["endpoint"], "headers": {"api-key": "${env:HEADER_0}"}}},
            {"HEADER_0": "word"},
        ),
    ],
    ids=["azure", "another receiver"],
)
def test_spans_are_handed_on_with_secrets_from_the_environment(
    simulate: Simulate, traces: dict[str, Any], exporter: dict[str, Any], variables: dict[str, str]
) -> None:
    found = traced(simulate, traces)
    config = configuration(found)
    assert config["exporters"] == exporter
    assert config["service"]["pipelines"]["traces"]["exporters"] == list(exporter)
    values = found.resource("Release", "physical-ai-traces-release").inputs["values"]
    assert values["extraEnvsFrom"] == [{"secretRef": {"name": "otel-collector-destination"}}]
    assert not [text for text in SECRETS.values() if text in yaml.safe_dump(values)]
    secret = found.resource("Secret", "otel-collector-destination").inputs["stringData"]
    assert type(secret).__name__ == "Secret" or all(type(value).__name__ == "Secret" for value in secret.values())
    plain = secret.value if type(secret).__name__ == "Secret" else {key: each.value for key, each in secret.items()}
    assert plain == variables


def test_a_receiver_without_login_has_no_secret(simulate: Simulate) -> None:
    found = traced(simulate, {"endpoint": "http://tempo.tracing:4318"})
    assert not [each for each in found.of_type("Secret") if "otel" in each.inputs["metadata"]["name"]]
    assert "extraEnvsFrom" not in found.resource("Release", "physical-ai-traces-release").inputs["values"]


def test_only_workflows_reach_it_and_it_reaches_its_destination(simulate: Simulate) -> None:
    found = traced(simulate, OTHER)

    def spec(name: str) -> dict[str, Any]:
        return found.resource("NetworkPolicy", name).inputs["spec"]

    (source,) = spec("from-workflows")["ingress"]
    assert source["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "osmo-workflows"}}}]
    assert [each["port"] for each in source["ports"]] == [4317, 4318]
    _, destination = spec("to-destination")["egress"]
    assert [each["port"] for each in destination["ports"]] == [4443]
    (sent,) = spec("traces")["egress"]
    assert sent["to"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "telemetry"}}}]


def test_a_destination_in_the_cluster_is_reached_in_its_namespace(simulate: Simulate) -> None:
    policy = traced(simulate, {"endpoint": "http://tempo.tracing.svc:4318"}).resource("NetworkPolicy", "to-destination")
    _, destination = policy.inputs["spec"]["egress"]
    assert destination == {"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "tracing"}}}]}
