"""`physai reach`: the table, the steps between two ends, data, the diagram, and what is asked in the wrong way."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from physical_ai.repository import DOCS
from tests.support.cases import in_one_test
from tests.unit.cli.test_cli_commands import call
from workbench.cli.output.reach import DESCRIPTION, diagram
from workbench.mocks import recorder
from workbench.mocks.recorder import declared
from workbench.policies import Stack
from workbench.policies.flows.declared import Flow, Required
from workbench.policies.flows.judging import Judgement
from workbench.policies.flows.verdicts import Verdict
from workbench.policies.flows.ways import Way

STACK = "dev-southeastasia"


@cache
def declared_once(stack: str, config: str, options: str, today: datetime.date) -> Stack:
    return declared(stack, json.loads(config), today=today, **json.loads(options))


@pytest.fixture(autouse=True)
def one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is run once for all questions about a stack."""

    def of_cache(stack: str, config: Mapping[str, Any], *, today: datetime.date, **options: Any) -> Stack:
        return declared_once(stack, json.dumps(config), json.dumps(options), today)

    monkeypatch.setattr(recorder, "declared", of_cache)


def reach(*arguments: str) -> tuple[int, str, str]:
    return call("reach", *arguments)


def test_every_declared_flow_is_a_line_with_its_rule() -> None:
    code, out, err = reach(STACK)
    assert code == 0
    (line,) = [each for each in out.splitlines() if each.startswith("internet") and "osmo-gateway" in each]
    assert "rule allow-osmo-gateway of nsg-physical-ai-dev-southeastasia" in line
    assert "0 unknown; 0 not as they have to be" in err


def test_a_setting_that_closes_what_is_needed_is_found_by_its_rule(tmp_path: Path) -> None:
    """Tasks of a stack whose isolation leaves out the internet."""
    code, out, _ = reach(STACK, "task", "database")
    assert code == 0
    assert out.splitlines()[0] == "task → database physical-ai-data-postgres-server, port 5432: closed"
    assert "1. closed: NetworkPolicy default-deny of osmo-workflows (NetworkPolicy " in out.splitlines()[1]
    assert "firewall rule" in out
    file = tmp_path / "way.mmd"
    assert reach(STACK, "task", "database", "--picture", str(file))[0] == 0
    head, *_, first = file.read_text().partition('\n  f0["task"] --> h0_0{{')[0].splitlines()
    assert (head, first.strip()[:9]) == ("flowchart TD", "accDescr:")
    assert "--x t0" in file.read_text()


def test_as_data_each_step_has_its_resource() -> None:
    code, out, _ = reach(STACK, "service", "database", "--json")
    document: dict[str, Any] = json.loads(out)
    (flow,) = document["flows"]
    assert code == 0
    assert (document["azure"], document["kubernetes"]) == ("declared", "declared")
    assert (flow["from"], flow["to"], flow["port"], flow["open"], flow["holds"]) == (
        "service",
        "database",
        5432,
        True,
        True,
    )
    kinds = [each["resource"]["type"].rpartition(":")[2] for each in flow["steps"]]
    assert kinds == ["NetworkPolicy", "NetworkSecurityGroup", "NatGateway", "FirewallRule"]


def test_any_two_ends_can_be_asked_about_at_any_port() -> None:
    code, out, _ = reach(STACK, "agent", "kai", "--port", "9443", "--port", "8080", "--json")
    assert code == 0
    flows = json.loads(out)["flows"]
    assert [(each["port"], each["open"], each["must"]) for each in flows] == [
        (9443, False, "not declared"), (8080, False, "not declared"),
    ]  # fmt: skip


@in_one_test(
    ("arguments", "text"),
    [
        (("task", "databse"), "TO: databse is not a known end. Did you mean database?"),
        (("tsk", "database"), "FROM: tsk is not a known end. Did you mean task?"),
        (("task",), "name what task connects to"),
        (("--port", "80"), "name FROM and TO as well"),
        (("agent", "kai"), "no flow from agent to kai is declared: name a port with --port"),
        (("agent", "kai", "--port", "99999"), "a port is a number from 1 to 65535"),
        (("internet", "task"), "no client reaches a Pod itself"),
        (("task", "subnets"), "subnets are asked about from internet and private-clients only"),
        (("nvsentinel", "dcgm"), "the stack has no nvsentinel: the namespace nvsentinel has nothing of it"),
        (("task", "gateway", "--picture", "way.svg"), "only Mermaid is drawn; write way.mmd"),
        (("task", "gateway", "--context", "blue"), "name the file that has it with --kubeconfig"),
    ],
)
def test_a_question_without_an_answer_says_what_to_ask(arguments: tuple[str, ...], text: str) -> None:
    code, out, err = reach(STACK, *arguments)
    assert (code, out) == (2, "")
    assert text in " ".join(err.split())


def test_an_existing_cluster_says_what_is_not_known() -> None:
    code, out, err = reach("onprem-lab", "node", "public-address")
    assert code == 0
    assert "unknown: the network under the cluster, which is not of the stack" in out
    assert "The cluster is not the stack's" in err


def test_a_firewall_in_files_decides_and_a_file_without_one_is_refused(tmp_path: Path) -> None:
    empty, broken = tmp_path / "vnet.json", tmp_path / "broken.json"
    empty.write_text('[{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v"}]')
    broken.write_text("{")
    for file, text in (
        (empty, "has nothing of a firewall"),
        (broken, "is no JSON"),
        (tmp_path / "x", "the file does not exist"),
    ):
        code, out, err = reach(STACK, "--firewall", str(file))
        assert (code, out) == (2, "")
        assert text in " ".join(err.split())
    afw = tmp_path / "afw.json"
    afw.write_text('{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/azureFirewalls/afw"}')
    code, _, err = reach(STACK, "--firewall", str(afw))
    assert code == 0
    assert "no route of the nodes leads to the firewall afw; only its DNAT rules count" in " ".join(err.split())


def test_the_diagram_of_all_flows_has_one_edge_for_ports_alike_and_wrong_ones_in_red() -> None:
    def judged(target: str, port: int, protocol: str, *, is_open: bool, must: Required = Required.OPEN) -> Judgement:
        flow = Flow("task", target, (port,), protocol, must, "Names.")
        return Judgement(flow, Way(target, port, (Verdict(is_open, "x"),)))

    rows = [
        judged("dns", 53, "UDP", is_open=True),
        judged("dns", 53, "TCP", is_open=True),
        judged("kai", 9443, "TCP", is_open=True, must=Required.CLOSED),
    ]
    assert diagram(rows, steps=False).splitlines() == [
        "flowchart LR",
        *DESCRIPTION,
        '  task["task"] -->|53/UDP, 53| dns["dns"]',
        '  task["task"] -->|9443| kai["kai"]',
        "  linkStyle 1 stroke:red,stroke-width:3px",
    ]


def test_the_picture_on_the_page_is_what_the_command_draws(tmp_path: Path) -> None:
    file = tmp_path / "way.mmd"
    assert reach(STACK, "service", "database", "--picture", str(file))[0] == 0
    assert f"```mermaid\n{file.read_text()}```" in (DOCS / "reachability.md").read_text(encoding="utf-8")
