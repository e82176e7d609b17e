"""Fate of gangs, and of work in upgrades that AKS refuses or stops for a disruption budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from tests.unit.impact.test_judging import BARE, NOW, POOLS, SERVICE, Planned, pool, training
from workbench.impact import Budgets, Effect, Fate, Work, judge
from workbench.impact.aks_upgrades import STOPS
from workbench.impact.work import LEAD_LABEL

LEADS = {FINISH_FIRST_LABEL: "true", LEAD_LABEL: "true"}
PEER = training(name="train-1", node="node-b", pool="rtxprogpu", task="sim")


def gang(change: Planned, *members: Work) -> dict[str, Effect]:
    return {each.work.name: each for each in judge([change], members, POOLS, NOW).effects}


def test_a_gang_ends_with_the_task_that_leads_it() -> None:
    found = gang(pool("replace"), training(labels=LEADS), PEER)
    assert [(each.fate, each.sure) for each in found.values()] == [(Fate.ENDED, True)] * 2
    assert found["train-1"].reasons[0].startswith("its gang ends with train: ")
    assert found["train-1"].lost == (6, 6)


def test_a_gang_may_end_with_another_of_its_tasks() -> None:
    """OSMO's default ignores tasks that do not lead, and KAI evicts nothing of a gang here."""
    found = gang(pool("replace", name="rtxprogpu"), training(labels=LEADS), PEER)
    assert {name: (each.fate, each.sure) for name, each in found.items()} == {
        "train-1": (Fate.ENDED, True),
        "train-0": (Fate.ENDED, False),
    }
    assert found["train-0"].reasons[0].startswith("its gang may end with sim, which does not lead it: ")


def test_a_gang_that_osmo_did_not_make_may_end_with_any_of_its_pods() -> None:
    found = gang(pool("replace"), training(labels={}), replace(PEER, labels={}))
    assert [(each.fate, each.sure) for each in found.values()] == [(Fate.ENDED, True), (Fate.ENDED, False)]


def upgrade(name: str = "h100gpu") -> Planned:
    old = {"agentPoolName": name, "orchestratorVersion": "1.36"}
    return Planned("AgentPool", "update", ("orchestratorVersion",), old, {**old, "orchestratorVersion": "1.37"})


def test_aks_refuses_an_upgrade_for_a_budget_anywhere_in_the_cluster() -> None:
    budgets = Budgets(("team/web (maxUnavailable is 0)",))
    found = judge([upgrade()], [training()], POOLS, NOW, budgets)
    assert [(each.fate, each.sure) for each in found.effects] == [(Fate.UNTOUCHED, True)]
    assert found.notes == (
        "AKS refuses the upgrade, and nothing of it happens, while a budget allows no eviction: team/web"
        " (maxUnavailable is 0)",
    )
    assert (found.outages, found.harmless) == ((), False)
    (other,) = judge([pool("update", "osSKU")], [training()], POOLS, NOW, budgets).effects
    assert other.fate is Fate.ENDED


def test_a_forced_upgrade_passes_over_budgets() -> None:
    kept = training(budget="team/web")
    budgets = Budgets(("team/web (maxUnavailable is 0)",), forced=True)
    (found,) = judge([upgrade()], [kept], POOLS, NOW, budgets).effects
    assert (found.fate, found.sure) == (Fate.ENDED, True)


def test_aks_stops_at_the_node_that_it_cannot_drain() -> None:
    kept = replace(SERVICE, name="kept", budget="team/web", node="node-a")
    beside, behind = (
        replace(BARE, name=name, node=node) for name, node in (("beside", "node-a"), ("behind", "node-b"))
    )
    found = {
        each.work.name: each for each in judge([pool("update", "osSKU")], [kept, beside, behind], POOLS, NOW).effects
    }
    assert {name: (each.fate, each.sure) for name, each in found.items()} == {
        "beside": (Fate.ENDED, True),
        "behind": (Fate.ENDED, False),
        "kept": (Fate.UNTOUCHED, False),
    }
    assert found["behind"].reasons[-1] == STOPS
    assert STOPS not in found["beside"].reasons


@pytest.mark.parametrize(("sources", "fate"), [("command,file", Fate.RESTARTED), ("file", Fate.UNTOUCHED)])
def test_a_toolkit_whose_drop_in_containerd_refuses_may_cost_a_node_with_all_its_pods(sources: str, fate: Fate) -> None:
    variable = {"name": "RUNTIME_CONFIG_SOURCE", "value": sources}
    names = {"name": "gpu-operator"}
    change = Planned(
        "Release",
        "update",
        ("values.toolkit.env[0].value",),
        names,
        {**names, "values": {"toolkit": {"env": [variable]}}},
    )
    beside = replace(SERVICE, gpus=0)
    (found,) = judge([change], [beside], POOLS, NOW).effects
    assert (found.fate, found.sure) == (fate, fate is Fate.UNTOUCHED)
