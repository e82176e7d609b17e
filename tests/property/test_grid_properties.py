"""Whatever GRID pools a stack has: the agent runs on each of their nodes, gets a document that it can use, and rolls
out exactly when the document changes."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from grid_agent.wanted import wanted_from
from physical_ai.planning import manifests
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.grid_objects import agent_rights, daemon_set, program
from physical_ai.settings import Overlay, Settings, SettingsError, load
from physical_ai.settings.facts.gpu import grid_pools
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import node_taints
from tests.support.examples import examples

quick = examples(40)

SIZES = ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", "Standard_NC36ds_xl_RTXPRO6000BSE_v6", "Standard_NV36ads_A10_v5")
BUILDS = (None, "580.105.08", "595.91.07", "595.58.03", "599.10.01")
SHA = "0123456789abcdef" * 4
OWN = {"599.10.01": {"sha256": SHA, "url": "https://files.example.com/own.run"}, "595.58.03": {"sha256": SHA}}
(MANIFEST,) = manifests.load("grid-driver.yaml")
RIGHTS = manifests.load("grid-driver-rights.yaml")
FILES = {"grid_agent/decide.py": "1"}


@st.composite
def pools(draw: st.DrawFn, index: int) -> dict[str, Any]:
    driver: dict[str, Any] = {"source": draw(st.sampled_from(["grid", "grid", "grid", "aks"]))}
    if driver["source"] == "grid":
        driver |= {
            "version": draw(st.sampled_from(BUILDS)),
            "moduleType": draw(st.sampled_from([None, "auto", "open", "proprietary"])),
            "moduleParameters": draw(st.sampled_from([{}, {"nvidia": {"a": "1"}}, {"nvidia-uvm": {"b": "0"}}])),
            "upgradePolicy": draw(st.sampled_from([None, "wait", "drain", "force"])),
        }
    return {
        "sku": draw(st.sampled_from(SIZES)),
        "driver": driver,
        "scale": {"count": draw(st.integers(0, 3)), "min": None, "max": None, "initial": None},
        "priority": draw(st.sampled_from(["Spot", "Regular"])),
        "subnet": f"10.60.{index + 1}.0/24",
        "taints": draw(st.sampled_from([[], ["team=a:NoSchedule"], ["b=c:NoExecute", "x/y=z:PreferNoSchedule"]])),
        "osDisk": {"type": "Managed", "sizeGb": 128},
    }


@st.composite
def stacks(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {"h100gpu": None, "rtxprogpu": None}
    for index, name in enumerate(draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))):
        made[name] = draw(pools(index))
    mirror = draw(st.sampled_from([None, "https://mirror.example.com/grid/"]))
    return {
        "network": {"addressSpace": "10.60.0.0/16", "systemSubnet": "10.60.0.0/24"},
        "gridDriver": {
            "version": draw(st.sampled_from(BUILDS[1:])),
            "installers": draw(st.sampled_from([OWN, OWN, OWN, {}])),
            "mirror": mirror,
            "offline": mirror is not None and draw(st.booleans()),
            "upgradePolicy": draw(st.sampled_from(["wait", "drain", "force"])),
            "present": draw(st.booleans()),
        },
        "pools": made,
    }


def accepted(data: dict[str, Any]) -> Settings | None:
    try:
        return load("dev-westus2", [Overlay("a test", data)]).settings
    except SettingsError:
        return None


def template(stack: Settings, files: dict[str, str] = FILES) -> dict[str, Any] | None:
    plan = grid_plan(stack)
    return None if plan is None else daemon_set(MANIFEST, plan, program(files))["spec"]["template"]


@quick
@given(stacks())
def test_the_agent_tolerates_and_selects_every_node_of_its_pools(data: dict[str, Any]) -> None:
    stack = accepted(data)
    assume(stack is not None)
    assert stack is not None
    made, own = template(stack), grid_pools(stack)
    assert (made is None) == (not own)
    for pool in own.values():
        assert made is not None
        tolerated = {(item["key"], item["operator"], item["effect"]) for item in made["spec"]["tolerations"]}
        taints = {(key, "Exists", effect) for key, _, effect in map(split_taint, node_taints(pool))}
        assert taints <= tolerated


@quick
@given(stacks())
def test_every_pool_gets_a_document_that_the_agent_can_use(data: dict[str, Any]) -> None:
    stack = accepted(data)
    plan = grid_plan(stack) if stack is not None else None
    assume(plan is not None)
    assert plan is not None
    document = json.loads(plan.document)
    assert set(document.get("pools", plan.wanted)) == set(plan.wanted)
    for wanted in document["pools"].values() if "pools" in document else [document]:
        read = wanted_from(wanted)
        assert len(read.target.sha256) == 64
        assert read.target.urls
        assert all(url.startswith("https://") for url in read.target.urls)
        assert read.package_source == "apt" or "download.microsoft.com" not in "".join(read.target.urls)


CHANGES: tuple[tuple[str, Any], ...] = (
    ("version", "595.91.07"),
    ("moduleType", "open"),
    ("upgradePolicy", "wait"),
    ("present", True),
    ("dkms", False),
    ("licence", "optional"),
    ("mirror", "https://mirror.example.com/grid"),
    ("imageRegistry", "example.azurecr.io"),
    ("installers", OWN),
)


@quick
@given(stacks(), st.sampled_from(CHANGES))
def test_it_rolls_out_exactly_when_code_or_wants_change(data: dict[str, Any], change: tuple[str, Any]) -> None:
    other = {**data, "gridDriver": {**data["gridDriver"], change[0]: change[1]}}
    first, second = accepted(data), accepted(other)
    plans = [grid_plan(stack) for stack in (first, second) if stack is not None]
    assume(len(plans) == 2 and all(plans))
    assert first is not None
    assert second is not None
    before, after = template(first), template(second)
    assert before is not None
    assert after is not None
    same = [plan.document for plan in plans if plan]
    assert (before["metadata"] == after["metadata"]) == (same[0] == same[1])
    again = template(first, {"grid_agent/decide.py": "2"})
    assert again is not None
    assert again["metadata"] != before["metadata"]


@quick
@given(stacks(), st.integers(0, 9), st.sampled_from(["Spot", "Regular"]))
def test_what_a_pool_costs_is_nothing_to_its_driver(data: dict[str, Any], count: int, priority: str) -> None:
    changed = copy.deepcopy(data)
    for pool in changed["pools"].values():
        if pool is not None:
            pool["scale"]["count"], pool["priority"] = count, priority
    plans = [grid_plan(stack) for each in (data, changed) if (stack := accepted(each)) is not None]
    assume(len(plans) == 2 and all(plans))
    first, second = (plan.document for plan in plans if plan)
    assert first == second


@quick
@given(stacks())
def test_rights_outside_the_namespace_follow_the_policies_of_the_pools(data: dict[str, Any]) -> None:
    stack = accepted(data)
    plan = grid_plan(stack) if stack is not None else None
    assume(plan is not None)
    assert plan is not None
    policies = {wanted["upgrade"] for wanted in plan.wanted.values()}
    (everywhere,) = (item for item in agent_rights(RIGHTS, plan) if item["kind"] == "ClusterRole")
    verbs = {
        (resource, verb) for rule in everywhere["rules"] for resource in rule["resources"] for verb in rule["verbs"]
    }
    assert (("pods/eviction", "create") in verbs) == ("drain" in policies)
    assert (("pods", "delete") in verbs) == ("force" in policies)
    assert not any("*" in pair for pair in verbs)
