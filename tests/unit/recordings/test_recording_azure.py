"""`record --azure` over HTTP against the simulated Azure, by a login that may only read; and answers that go wrong."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import client
from physical_ai.settings.facts.naming import Names
from simulator.azure.filled import body_of_get
from simulator.azure.web import Fault
from tests.support import azure_fakes
from tests.support.arm_web import SUBSCRIPTION, World, world
from tests.support.azure_fakes import Azure
from tests.support.recorded_cluster import World as Cluster
from workbench.cli import azure_login
from workbench.cli.main import run
from workbench.preflight import login
from workbench.recordings import arm_reader as recording
from workbench.recordings.azure import azure_entries
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.questions import Limits
from workbench.recordings.reading import read

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{azure_fakes.GROUP}"
CLUSTER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/aks"
REFUSED = b'{"error": {"code": "AuthorizationFailed", "message": "No."}}'
BUSY = b'{"error": {"code": "TooManyRequests", "message": "Later."}}'


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[World]:
    """A subscription with a cluster, its pool, its network and identities."""
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.pool()
    subject = {"issuer": "https://x", "subject": "system:serviceaccount:a:b", "audiences": ["api://x"]}
    azure.put(
        "FederatedIdentityCredential", resourceName="kubelet", federatedIdentityCredentialResourceName="fed", **subject
    )
    with world(tmp_path) as found:
        yield found


def recorded(arm: World, who: str = "reader", until: float = math.inf, **limits: Any) -> list[Entry]:
    return list(azure_entries(arm.get(who), GROUP, Limits(**limits), lambda said: None, until))


def unread(entries: list[Entry]) -> dict[str, str]:
    return {each["what"]: each["reason"] for each in entries if each["kind"] == "unread"}


def test_a_reader_gets_every_body_as_a_get_returns_it_and_changes_nothing(arm: World) -> None:
    found = recorded(arm)
    cloud = arm.web.questions.cloud
    bodies = {each["id"]: each["body"] for each in found if each["kind"] == "azure"}
    assert unread(found) == {}
    for id_, body in bodies.items():
        resource = cloud.get(id_)
        assert resource is not None
        assert body == body_of_get(resource), id_
    own = {each for each in cloud.resources(inline=True) if "/subnets/" not in each and "roleAssignments" not in each}
    assert set(bodies) == own
    assert {f"{CLUSTER}/agentPools/{each}" for each in ("system", "h100gpu")} <= set(bodies)
    assert {method for method, _, _ in arm.web.asked} == {"GET"}


def test_a_busy_azure_is_asked_again_and_one_that_stays_busy_is_named(arm: World) -> None:
    later = Fault(429, BUSY, {"Retry-After": "1"})
    arm.fault(later, later)
    assert unread(recorded(arm)) == {}
    arm.fault(*[Fault(429, BUSY, {"Retry-After": "7200"}, only="/agentPools")] * login.ATTEMPTS)
    found = recorded(arm)
    assert unread(found) == {f"{CLUSTER}/agentPools": f"{CLUSTER}/agentPools: Azure answered 429"}


@pytest.mark.parametrize("status", [403, 404, 500])
def test_one_resource_that_cannot_be_read_is_named_and_the_others_are_read(arm: World, status: int) -> None:
    before = len(recorded(arm))
    arm.fault(*[Fault(status, REFUSED, only="/virtualNetworks/vnet")] * login.ATTEMPTS)
    found = recorded(arm)
    [(what, why)] = unread(found).items()
    assert what.endswith("/virtualNetworks/vnet")
    assert str(status) in why
    assert len(found) == before


@pytest.mark.parametrize("end", ["/resources", f"/{azure_fakes.GROUP}"])
def test_without_the_group_nothing_is_read(arm: World, end: str) -> None:
    arm.fault(Fault(403, REFUSED, only=end))
    found = recorded(arm)
    assert list(unread(found)) == [f"Azure's resources of {GROUP}"]
    assert len(arm.web.asked) <= 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Fault(200, b'{"value": [{"id": "/x', cut=True), "was not reached"),
        (Fault(200, b"<html>login</html>"), "not JSON"),
        (Fault(200, b"[1]"), "the answer is no object"),
        (Fault(200, b'{"value": [], "nextLink": "https://evil.example.org/x"}'), "another host"),
        (Fault(302, b"", {"Location": "https://evil.example.org/x"}), "302"),
    ],
)
def test_half_an_answer_or_another_ones_is_none(arm: World, answer: Fault, said: str) -> None:
    arm.fault(*[Fault(answer.status, answer.body, answer.headers, answer.cut, "/resources")] * login.ATTEMPTS)
    found = recorded(arm)
    [why] = unread(found).values()
    assert said in why
    assert [each["kind"] for each in found] == ["azure", "unread"]


def test_a_list_without_end_ends(arm: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_PAGES", 3)
    page = json.dumps(
        {"value": [], "nextLink": f"https://management.azure.com{GROUP}/resources?api-version=1"}
    ).encode()
    arm.fault(*[Fault(200, page, only="/resources")] * 9)
    assert "does not end" in next(iter(unread(recorded(arm)).values()))


@pytest.mark.parametrize(
    ("limits", "said"),
    [({"requests": 3}, "3 requests"), ({"mebibytes": 0}, "0 MiB"), ({"seconds": 60.0}, "60 s are over")],
)
def test_reading_is_bounded_and_the_rest_is_named(arm: World, limits: dict[str, Any], said: str) -> None:
    until = time.monotonic() - 1 if "seconds" in limits else math.inf
    found = recorded(arm, until=until, **limits)
    assert said in " ".join(unread(found).values())
    assert len(arm.web.asked) <= limits.get("requests", 0)


def test_another_tenant_or_an_expired_login_is_named(arm: World) -> None:
    for who in ("expired", "other"):
        [why] = unread(recorded(arm, who)).values()
        assert "401" in why


def test_no_credential_of_a_body_is_in_the_recording(arm: World) -> None:
    word = "Qv7xPlum42Kite"
    body = {"id": CLUSTER, "properties": {
        "administratorLoginPassword": word, "servicePrincipalProfile": {"clientId": "msi", "secret": word},
        "accessKeys": {"primaryKey": word}, "windowsProfile": {"adminUsername": "azadmin7", "adminPassword": word},
        "connectionString": f"Endpoint=sb://a/;SharedAccessKey={word}", "fqdn": "aks-contoso.hcp.westus2.azmk8s.io",
        "siteConfig": {"url": f"https://a.blob.core.windows.net/c?sig={word}"}, "tags": {"owner": "Ada King"},
    }}  # fmt: skip
    arm.fault(Fault(200, json.dumps(body).encode(), only="/managedClusters/aks"))
    text = json.dumps(made([head("s", "2026-01-01T00:00:00Z", "p", simulated=False), *recorded(arm)]))
    assert [each for each in (word, "azadmin7", "Ada King", "contoso", SUBSCRIPTION) if each in text] == []


def test_the_command_reads_cluster_and_azure_with_reading_rights(
    arm: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    get = Cluster()
    monkeypatch.setattr(client, "connect", lambda *_: get)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] - a path
    monkeypatch.setattr(login, "logged_in", lambda: arm.get("reader"))
    monkeypatch.setenv(azure_login.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    monkeypatch.setattr(Names, "resource_group", azure_fakes.GROUP)
    kubeconfig, file = tmp_path / "kubeconfig", tmp_path / "it.gz"
    kubeconfig.write_text("a kubeconfig")
    assert run(["record", "dev-westus2", "--kubeconfig", str(kubeconfig), "--azure", "-o", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["objects"]["azure"] > 8
    found = read(file)
    assert SUBSCRIPTION not in json.dumps(found.entries)
    assert len({each["id"].split("/")[2] for each in found.of("azure")}) == 1
    assert {method for method, _, _ in arm.web.asked} == {"GET"}
