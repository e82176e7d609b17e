"""InfiniBand ports of a node, by the record of its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.readiness.expected import deployed_pools, expected_pools
from physical_ai.readiness.reader import Missing, Unreachable, read_reports
from tests.support.readiness_objects import Situation
from tests.support.readiness_situations import with_ports
from tests.unit.settings.test_settings_fabric import stack

WHOLE = ["ACTIVE"] * 8


def test_a_node_with_all_ports_active_is_open_and_a_port_that_is_not_is_named() -> None:
    assert not with_ports(WHOLE).report().closed
    (gate,) = with_ports(["ACTIVE", "DOWN", "INIT", *WHOLE[3:]]).report().closed
    assert "mlx5_1 is DOWN, mlx5_2 is INIT" in gate.reason
    (gate,) = with_ports([]).report().closed
    assert "0 of the 8 InfiniBand ports" in gate.reason


def test_what_is_not_known_of_ports_closes_nothing() -> None:
    assert not with_ports(None).report().closed
    assert not with_ports(["DOWN"] * 8, uid="another machine").report().closed
    broken = with_ports(["DOWN"] * 8)
    broken.records[0]["data"] = {"machine.json": "{"}
    assert not broken.report().closed
    unlinked = with_ports(["DOWN"] * 8)
    unlinked.records.clear()
    assert not unlinked.report().closed


def test_the_newest_record_counts() -> None:
    situation = with_ports(["DOWN"] * 8)
    (later,) = with_ports(WHOLE).records
    later["metadata"]["annotations"] = {"physical-ai/evidence-seen": "2026-11-24T01:00:00Z"}
    situation.records.append(later)
    assert not situation.report().closed


class Server:
    """Answers as an API server with one node; `records` is what a list of ConfigMaps does."""

    def __init__(self, situation: Situation, refusal: Exception | None = None) -> None:
        self.situation, self.refusal = situation, refusal
        self.asked: list[str] = []

    def get(self, path: str, parameters: Mapping[str, str]) -> Any:
        self.asked.append(path)
        if path == "/api/v1/nodes":
            return {"items": [self.situation.node]}
        if path.endswith("/configmaps"):
            assert parameters == {"labelSelector": "physical-ai/evidence"}
            if self.refusal is not None:
                raise self.refusal
            return {"items": self.situation.records}
        if path.endswith("/log"):
            return ""
        return {"items": []}


def test_records_are_read_where_a_pool_has_infiniband_and_nowhere_else() -> None:
    server = Server(with_ports(["DOWN", *WHOLE[1:]]))
    (report,) = read_reports(server.get, [server.situation.expected])
    assert [gate.cause for gate in report.closed] == ["port-down"]
    plain = Server(Situation())
    read_reports(plain.get, [plain.situation.expected])
    assert not [path for path in plain.asked if path.endswith("/configmaps")]


@pytest.mark.parametrize("refusal", [Missing("404"), Unreachable("403 configmaps is forbidden")])
def test_who_may_not_read_records_sees_the_other_gates(refusal: Exception) -> None:
    server = Server(with_ports(["DOWN", *WHOLE[1:]]), refusal)
    (report,) = read_reports(server.get, [server.situation.expected])
    assert "port-down" not in [gate.cause for gate in report.closed]


def test_a_server_that_does_not_answer_is_no_open_gate() -> None:
    server = Server(with_ports(WHOLE), Unreachable("500 etcd"))
    with pytest.raises(Unreachable):
        read_reports(server.get, [server.situation.expected])


def test_pools_with_a_fabric_have_a_port_for_each_gpu() -> None:
    settings = stack().settings
    found = {each.pool: each.ports for each in expected_pools(settings)}
    assert found == {"h100gpu": 0, "rtxprogpu": 0, "ndgpu": 8}
    from physical_ai.settings.facts.summary import pool_summary

    summaries = {name: pool_summary(settings, name) for name in settings.pools}
    assert {each.pool: each.ports for each in deployed_pools(summaries, "nd")} == found
    assert {each.stack for each in deployed_pools(summaries, "nd")} == {"nd"}
