"""What the webhooks of cert-manager, MetalLB and Slurm's operator refuse, which their models have as policies.

Expected verdicts: cert-manager v1.21.1, internal/apis/certmanager/validation; MetalLB v0.15.3, internal/config;
SlinkyProject/slurm-operator v1.2.1, internal/webhook.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from parts.cert_manager import names as cert_manager
from parts.cert_manager.plan import CertManagerPlan
from parts.cluster_services import names as cluster_services
from parts.cluster_services.plan import address_objects
from parts.slurm import names as slurm
from physical_ai.catalog.charts import newest_chart
from physical_ai.settings import Overlay, load
from simulator.charts import materialise
from simulator.home import Home
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import APPLY_PATCH
from tests.simulator.conftest import ApiServer
from tests.support.charts import run
from tests.support.in_force import wait_until_in_force
from tests.support.waiting import until

Json = dict[str, Any]
CHARTS = (
    (cert_manager.CHART, newest_chart(cert_manager.CHART).version, "cert-manager"),
    ("metallb", newest_chart("metallb").version, "metallb-system"),
    (slurm.OPERATOR_CHART, newest_chart(slurm.OPERATOR_CHART).version, "slinky"),
)
VALUES: dict[str, Json] = {
    cert_manager.CHART: {"crds": {"enabled": True}},
    slurm.OPERATOR_CHART: {"certManager": {"enabled": False}},
}
KINDS = ("CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


class Server:
    """Asks whether an object may be created, and keeps nothing."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def refusal(self, item: Json) -> str | None:
        namespace, name = item["metadata"].get("namespace"), item["metadata"]["name"]
        path = self.client.path(item["apiVersion"], item["kind"], namespace, name).rpartition("/")[0]
        try:
            self.client.request("POST", path, item, {"dryRun": "All"})
        except ApiError as refused:
            return str(refused)
        return None


@pytest.fixture(scope="module")
def server(api_server: ApiServer) -> Iterator[Server]:
    client, made = Client(api_server.kubeconfig), list[Json]()
    for chart, version, namespace in CHARTS:
        folder = materialise(chart, version, Home.of_user().folder / "chart-models")
        text = run("template", "r", str(folder), "--namespace", namespace, "--include-crds", values=VALUES.get(chart))
        made += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}]
        made += [each for each in yaml.safe_load_all(text) if each and each["kind"] in KINDS]
    for item in made:
        path = client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        client.patch(path, item, APPLY_PATCH, {"fieldManager": "test", "force": "true"})
    for item in (certificate(), issuer(), pool("10.0.9.0/28"), of_slurm("NodeSet"), of_slurm("LoginSet")):
        path = client.path(item["apiVersion"], item["kind"], item["metadata"].get("namespace"), "x").rpartition("/")[0]
        until(lambda path=path: client.find(path) is not None, "the definitions are not served")
    wait_until_in_force(client)
    yield Server(client)
    for item in reversed(made):
        if item["kind"] != "Namespace":
            client.request("DELETE", client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"]))
    wait_until_in_force(client)


def certificate(**spec: Any) -> Json:
    own = {"secretName": "tls", "dnsNames": ["osmo.contoso.com"], "issuerRef": {"name": "acme"}, **spec}
    kept = {key: value for key, value in own.items() if value is not None}
    metadata = {"name": "a", "namespace": "cert-manager"}
    return {"apiVersion": cert_manager.API_VERSION, "kind": "Certificate", "metadata": metadata, "spec": kept}


ZONE = {"subscriptionID": "s", "resourceGroupName": "g", "hostedZoneName": "z", "managedIdentity": {"clientID": "c"}}


def issuer(zone: Json | None = None, **acme: Any) -> Json:
    own = {"server": "https://acme", "privateKeySecretRef": {"name": "key"}, **acme}
    own |= {"solvers": [{"dns01": {"azureDNS": {**ZONE, **(zone or {})}}}]} if "solvers" not in acme else {}
    return cluster_issuer({"acme": own})


def cluster_issuer(spec: Json) -> Json:
    kind = cert_manager.ISSUER_KIND
    return {"apiVersion": cert_manager.API_VERSION, "kind": kind, "metadata": {"name": "a"}, "spec": spec}


def pool(*addresses: str, namespace: str = "metallb-system") -> Json:
    metadata = {"name": "a", "namespace": namespace}
    kind, spec = "IPAddressPool", {"addresses": list(addresses)}
    return {"apiVersion": cluster_services.METALLB_API, "kind": kind, "metadata": metadata, "spec": spec}


def of_slurm(kind: str, **spec: Any) -> Json:
    own = {"controllerRef": {"name": "slurm", "namespace": "slinky"}, **spec}
    metadata = {"name": "a", "namespace": "slinky"}
    return {"apiVersion": slurm.API_VERSION, "kind": kind, "metadata": metadata, "spec": own}


def rolling(most: int | str) -> Json:
    return {"updateStrategy": {"rollingUpdate": {"maxUnavailable": most}}}


LONG = "a" * 61 + ".com"
CASES: list[tuple[Json, str | None]] = [
    (certificate(), None),
    (certificate(privateKey={"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}), None),
    (certificate(privateKey={"algorithm": "ECDSA", "size": 2048}), "Unsupported value"),
    (certificate(privateKey={"size": 1024}), "must be between 2048 and 8192"),
    (certificate(secretName="Not_A_Name"), "spec.secretName: Invalid value"),
    (certificate(secretName=""), "spec.secretName: Required value"),
    (certificate(dnsNames=None), "at least one of commonName"),
    (certificate(dnsNames=None, commonName="a.com"), None),
    (certificate(commonName=LONG), "Too long"),
    (certificate(dnsNames=[LONG]), None),
    (certificate(issuerRef={"name": ""}), "issuerRef.name: Required value"),
    (certificate(issuerRef={"name": "a", "kind": "AwsIssuer"}), "must be one of Issuer or ClusterIssuer"),
    (certificate(issuerRef={"name": "a", "kind": "AwsIssuer", "group": "awspca.cert-manager.io"}), None),
    (certificate(duration="30m"), "must be greater than 1h0m0s"),
    (certificate(duration="2h", renewBefore="2h"), "must be greater than renewBefore"),
    (certificate(duration="2h", renewBefore="1h"), None),
    (certificate(renewBefore="1m"), "must be greater than 5m0s"),
    (issuer(), None),
    (issuer(server=""), "acme server URL is a required field"),
    (issuer(privateKeySecretRef={}), "private key secret name is a required field"),
    (issuer(solvers=[{}]), "no solver type configured"),
    (issuer(solvers=[{"http01": {}, "dns01": {}}]), "more than one solver type"),
    (issuer({"subscriptionID": ""}), "azureDNS.subscriptionID: Required value"),
    (issuer({"resourceGroupName": ""}), "azureDNS.resourceGroupName: Required value"),
    (issuer({"environment": "AzureCloud"}), "azureDNS.environment: Invalid value"),
    (issuer({"tenantID": "t"}), "cannot be used at the same time"),
    (issuer({"managedIdentity": {"clientID": "c", "resourceID": "r"}}), "cannot both be specified"),
    (cluster_issuer({}), "at least one issuer must be configured"),
    (cluster_issuer({"selfSigned": {}, "ca": {"secretName": "a"}}), "more than one issuer type"),
    (cluster_issuer({"selfSigned": {}}), None),
    (pool("10.0.9.0/28"), None),
    (pool("10.0.9.10-10.0.9.20", "10.0.9.64/28", "10.0.10.1/32"), None),
    (pool(), "pool has no prefixes defined"),
    (pool("10.0.9.0"), 'invalid CIDR "10.0.9.0"'),
    (pool("10.0.9.300-10.0.9.301"), "invalid CIDR"),
    (pool("10.0.9.20-10.0.9.10"), "its start is after its end"),
    (pool("10.0.9.0/28", "10.0.9.15-10.0.9.30"), "overlaps with already defined CIDR"),
    (pool("10.0.9.0/28", "10.0.9.16-10.0.9.30"), None),
    (pool("10.0.9.0/24", "10.0.9.128/25"), "overlaps with already defined CIDR"),
    (pool("0.0.0.0/0", "10.0.9.128/25"), "overlaps with already defined CIDR"),
    (pool("fd00::/112"), None),
    (of_slurm("NodeSet", **rolling("25%")), None),
    (of_slurm("NodeSet", **rolling(1)), None),
    (of_slurm("NodeSet", **rolling(0)), "maxUnavailable must be > 0"),
    (of_slurm("NodeSet", **rolling("0%")), "maxUnavailable must be > 0"),
    (of_slurm("NodeSet", controllerRef={"name": ""}), "controllerRef.name must not be empty"),
    (of_slurm("LoginSet"), None),
    (of_slurm("LoginSet", controllerRef={"name": ""}), "controllerRef.name must not be empty"),
    (pool("10.0.9.0/28", namespace="cert-manager"), "resource must be created in metallb-system namespace"),
]


@pytest.mark.parametrize(("item", "words"), CASES)
def test_the_webhook_s_verdict(server: Server, item: Json, words: str | None) -> None:
    found = server.refusal(item)
    assert found is None if words is None else words in (found or "accepted")


def test_what_a_stack_declares_is_taken(server: Server) -> None:
    given = {"loadBalancer": {"metallb": {"addresses": ["192.168.7.0/28", "192.168.7.32-192.168.7.40"]}}}
    metallb = load("dev-westus2", [Overlay("--set", given)]).settings.load_balancer.metallb
    assert metallb is not None
    plan = load("dev-southeastasia").plan.parts["cert_manager"]
    assert isinstance(plan, CertManagerPlan)
    assert plan.acme is not None
    own = {**plan.certificate(), "metadata": {"name": "a", "namespace": "cert-manager"}}
    for item in (*address_objects(metallb), plan.cluster_issuer(plan.acme, "client"), own):
        assert server.refusal(item) is None
