"""The firewall of a hub in a recording: read where it may be, named where not, and used by `reach --from`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings import load
from physical_ai.subscription.answers import Unanswered
from simulator.azure.web import Fault
from tests.support import azure_fakes
from tests.support.arm_web import SUBSCRIPTION, World, world
from tests.support.azure_fakes import Azure
from tests.unit.components.test_components_private import PEERED, network
from tests.unit.policies.test_firewalls import collection, rule
from workbench.cli.main import run
from workbench.cli.requested_stack import merge
from workbench.recordings.arm_reader import ArmReader
from workbench.recordings.azure import azure_entries
from workbench.recordings.firewalls import FIREWALLS, GROUPS, IP_GROUPS, POLICIES, firewall_entries, without_ranges
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.questions import Limits
from workbench.recordings.reading import read
from workbench.recordings.writing import write

Json = dict[str, Any]
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{azure_fakes.GROUP}"
HUB = "/subscriptions/99999999-9999-4999-8999-999999999999/resourceGroups/rg-hub"
NETWORK = f"{HUB}/providers/Microsoft.Network"
REFUSED = b'{"error": {"code": "AuthorizationFailed", "message": "No."}}'
ADDRESS = "10.0.1.4"
STACK = "dev-westus2"


def firewall(address: str = ADDRESS, name: str = "afw") -> Json:
    configuration = {"name": "ip", "properties": {"privateIPAddress": address}}
    below = {"ipConfigurations": [configuration], "firewallPolicy": {"id": f"{NETWORK}/firewallPolicies/own"}}
    return {"id": f"{NETWORK}/azureFirewalls/{name}", "properties": below}


def hub(*rules: Json) -> dict[str, Any]:
    """Answers about a hub, by the path of the request: a firewall, its policy, the policy's parent, and an IP group."""
    own = {
        "id": f"{NETWORK}/firewallPolicies/own",
        "properties": {"basePolicy": {"id": f"{NETWORK}/firewallPolicies/base"}},
    }
    group = {
        "id": f"{NETWORK}/firewallPolicies/own/ruleCollectionGroups/g",
        "properties": {"priority": 200, "ruleCollections": [collection("c", 200, *rules)]},
    }
    addresses = {
        "id": f"{NETWORK}/ipGroups/git",
        "properties": {"ipAddresses": ["140.82.112.0-140.82.112.9", "10.1.2.3"]},
    }
    return {
        f"{HUB}/providers/{FIREWALLS}": {"value": [firewall("10.0.9.9", "other"), firewall()]},
        f"{NETWORK}/firewallPolicies/own": own,
        f"{NETWORK}/firewallPolicies/own/ruleCollectionGroups": {"value": [group]},
        f"{NETWORK}/firewallPolicies/base": {"id": f"{NETWORK}/firewallPolicies/base", "properties": {}},
        f"{NETWORK}/firewallPolicies/base/ruleCollectionGroups": {"value": []},
        f"{NETWORK}/ipGroups/git": addresses,
    }


def bodies() -> list[Json]:
    """A route table that leads to the firewall, and a network that is peered with the hub."""
    route = {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": ADDRESS}
    table = {"routes": [{"name": "internet", "properties": route}]}
    remote = {"remoteVirtualNetwork": {"id": f"{NETWORK}/virtualNetworks/hub"}}
    own = f"{GROUP}/providers/Microsoft.Network"
    return [
        {"id": f"{own}/routeTables/rt", "properties": table},
        {"id": f"{own}/virtualNetworks/vnet", "properties": {"virtualNetworkPeerings": [{"properties": remote}]}},
    ]


def found(answers: Mapping[str, Any], given: list[Json] | None = None) -> tuple[list[Entry], list[str]]:
    """Entries about firewalls, and paths of the requests."""
    asked: list[str] = []

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        asked.append(path)
        if path not in answers:
            raise Unanswered(f"{path}: the login may not read it (403)")
        return answers[path]

    reader = ArmReader(get, Limits(), math.inf)
    return list(firewall_entries(reader, bodies() if given is None else given, GROUP)), asked


def test_the_firewall_of_the_route_is_read_with_policies_rules_and_ip_groups() -> None:
    named = rule(destinationAddresses=[], destinationIpGroups=[f"{NETWORK}/ipGroups/git"])
    entries, asked = found(hub(named))
    kinds = [(each["type"], each["id"].rpartition("/")[2]) for each in entries]
    assert kinds == [(FIREWALLS, "afw"), (POLICIES, "own"), (GROUPS, "g"), (POLICIES, "base"), (IP_GROUPS, "git")]
    assert entries[-1]["body"]["properties"]["ipAddresses"] == ["140.82.112.0/29", "140.82.112.8/31", "10.1.2.3"]
    assert len(asked) == 6


def test_without_a_route_to_an_appliance_nothing_is_asked() -> None:
    table, vnet = bodies()
    table["properties"]["routes"][0]["properties"]["nextHopType"] = "Internet"
    assert found(hub(), [table, vnet]) == ([], [])


def test_what_may_not_be_read_is_named() -> None:
    entries, asked = found({})
    (unread,) = entries
    assert unread["what"] == f"the firewall at {ADDRESS}, which a route leads to"
    assert unread["reason"].count("may not read it (403)") == len(asked) == 4
    policies = {path: each for path, each in hub().items() if "firewallPolicies" not in path}
    entries, _ = found(policies)
    assert [(each["kind"], each.get("what", "")) for each in entries] == [
        ("azure", ""),
        ("unread", f"{NETWORK}/firewallPolicies/own"),
    ]


def test_an_appliance_that_is_no_azure_firewall_is_named() -> None:
    scopes = [scope for each in (HUB, GROUP) for scope in (each, each.partition("/resourceGroups/")[0])]
    (unread,), _ = found({f"{scope}/providers/{FIREWALLS}": {"value": []} for scope in scopes})
    assert unread["reason"] == "no Azure Firewall in the stack's and the peered subscriptions has it"


def test_policies_that_refer_to_each_other_end() -> None:
    answers = hub()
    answers[f"{NETWORK}/firewallPolicies/base"]["properties"]["basePolicy"] = {"id": f"{NETWORK}/firewallPolicies/own"}
    entries, asked = found(answers)
    assert len(asked) < 30
    assert {each["kind"] for each in entries} == {"azure"}


@pytest.mark.parametrize("value", ["10.0.0.4-10.0.0.3", "a-b", "allow-all", 7, None, "10.0.0.4"])
def test_what_is_no_range_is_left(value: Any) -> None:
    assert without_ranges({"x": [value]}) == {"x": [value]}


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[World]:
    """A subscription with a network that is peered with a hub, and a route to the hub's firewall."""
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    route = {"name": "internet", "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance"}
    azure.put("RouteTable", routeTableName="rt", location=azure.place, routes=[{**route, "nextHopIpAddress": ADDRESS}])
    azure.put(
        "VirtualNetworkPeering",
        virtualNetworkName="vnet",
        virtualNetworkPeeringName="to-hub",
        remoteVirtualNetwork={"id": f"{NETWORK}/virtualNetworks/hub"},
        allowVirtualNetworkAccess=True,
    )
    with world(tmp_path) as found:
        yield found


def recorded(arm: World) -> list[Entry]:
    return list(azure_entries(arm.get("reader"), GROUP, Limits(), lambda said: None))


def test_over_http_a_reader_of_the_hub_gets_it_and_another_is_told(arm: World) -> None:
    (unread,) = [each for each in recorded(arm) if each["kind"] == "unread"]
    assert unread["what"] == f"the firewall at {ADDRESS}, which a route leads to"
    for path, answer in hub(rule()).items():
        arm.fault(Fault(200, json.dumps(answer).encode(), only=path))
    entries = recorded(arm)
    assert [each for each in entries if each["kind"] == "unread"] == []
    assert {FIREWALLS, POLICIES, GROUPS} <= {each["type"] for each in entries}
    arm.fault(Fault(403, REFUSED, only=f"{HUB}/providers/{FIREWALLS}"))
    (refused,) = [each for each in recorded(arm) if each["kind"] == "unread"]
    assert "(403)" in refused["reason"]
    assert {method for method, _, _ in arm.web.asked} == {"GET"}


def test_hosts_of_rules_are_replaced_and_those_of_azure_are_kept() -> None:
    names = rule(
        "ApplicationRule", targetFqdns=["git.contoso.net", "*.contoso.net", "*.vault.azure.net", "nvcr.io", "*"]
    )
    entries, _ = found(hub(names))
    text = json.dumps(made([head(STACK, "2026-01-01T00:00:00Z", "p", simulated=False), *entries]))
    assert "contoso" not in text
    assert '"*.vault.azure.net", "nvcr.io", "*"' in text


def written(folder: Path, entries: list[Entry]) -> Path:
    """A recording of a stack behind the hub's firewall, in a file."""
    overrides = network("private", hub=PEERED, firewall={"address": ADDRESS})
    settings = merge(load(STACK).raw, overrides)
    first = [head(STACK, "2026-11-28T04:00:00Z", "p", simulated=False), {"kind": "settings", "settings": settings}]
    file = folder / "it.gz"
    lists = [{"kind": "list", "path": f"/api/v1/{each}", "items": []} for each in ("namespaces", "pods", "services")]
    write(made([*first, *lists, *entries]), file)
    return file


def test_reach_on_a_recording_asks_its_firewall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allowed = rule(ipProtocols=["Any"], destinationPorts=["443"])
    entries, _ = found(hub(allowed))
    file = written(tmp_path, entries)
    assert read(file).of("azure")
    code = run(["reach", STACK, "node", "public-address", "--from", str(file)])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0, said
    assert "the firewall afw" in said
    assert "network rule r of c" in said
    closed, _ = found(hub())
    code = run(["reach", STACK, "node", "public-address", "--from", str(written(tmp_path, closed))])
    assert code == 3
    assert "firewall afw, which has no rule for it" in " ".join(capsys.readouterr().out.split())


def test_without_the_firewall_it_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reach", STACK, "node", "public-address", "--from", str(written(tmp_path, []))]) == 0
    assert "whose rules are not of the stack" in " ".join(capsys.readouterr().out.split())
