"""A GPU Operator that a cluster has before a stack: by default nothing is changed, and what is used has to fit."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from physical_ai.readiness.existing import STACK_LABEL, Survey
from physical_ai.readiness.existing_owners import Judgement, judge
from physical_ai.readiness.installed_driver import OWNERS
from physical_ai.settings import Loaded, Overlay, SettingsError, load, load_config
from tests.support.cases import in_one_test
from tests.unit.settings.test_settings_existing import LAB
from workbench.mocks.existing_answers import described_cluster

STACK = "any-lab"
HELM = {"meta.helm.sh/release-name": "gpus", "meta.helm.sh/release-namespace": "gpu-operator"}
NAMESPACE: dict[str, Any] = {"metadata": {"name": "gpu-operator"}}
POLICY: dict[str, Any] = {
    "metadata": {"name": "cluster-policy", "labels": {"app.kubernetes.io/version": "v26.7.1"}, "annotations": HELM},
    "spec": {"driver": {"useNvidiaDriverCRD": True}, "cdi": {"enabled": True}, "mig": {"strategy": "single"}},
}
"""As the chart writes it with its own values, and drivers that are resources."""
DRIVERS: list[dict[str, Any]] = [{"metadata": {"name": "default"}, "spec": {"version": "580.173.02"}}]


def settings(**operator: Any) -> Loaded:
    return load_config(STACK, {**LAB, "gpuOperator": operator} if operator else LAB)


def changed(item: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one value set."""
    made: Any = copy.deepcopy(dict(item))
    *above, last = path.split("/")
    here = made
    for part in above:
        here = here.setdefault(part, {})
    here[last] = value
    return made


def judged(loaded: Loaded, *policies: Mapping[str, Any], **found: Any) -> Judgement:
    whole = described_cluster(loaded.settings, "", "")[1]
    there = {"drivers": DRIVERS, "extra": [NAMESPACE], **found}
    namespaces = [*whole.namespaces, *there.pop("extra")]
    return judge(loaded.settings, loaded.plan, Survey(whole.nodes, namespaces, policies, **there))


def test_a_cluster_without_one_gets_the_stack_s_own() -> None:
    verdict = judged(settings(), extra=[], drivers=[])
    assert (verdict.problems, verdict.notes) == ([], [])


def test_by_default_a_foreign_one_stops_everything_and_says_what_its_use_would_be() -> None:
    namespace, operator = judged(settings(), POLICY).problems
    assert namespace == "The namespace gpu-operator exists, and this stack has not created it."
    assert "the GPU Operator v26.7.1 (ClusterPolicy cluster-policy, Helm release gpu-operator/gpus) already" in operator
    assert "gpuOperator.existing: use leaves it as it is, and the stack installs none. It fits this stack." in operator
    other = judged(settings(), changed(POLICY, "spec/devicePlugin/enabled", False)).problems[-1]
    assert "These would have to change first:" in other
    assert "devicePlugin.enabled: it is off" in other


def test_one_that_fits_is_used_as_it_is() -> None:
    verdict = judged(settings(existing="use"), POLICY)
    assert verdict.problems == []
    (note,) = verdict.notes
    assert note.endswith("is used as it is: the stack installs no release and no drivers of it.")


USED = settings(existing="use")
SHARED = load_config(
    STACK,
    {
        **LAB,
        "gpuOperator": {"existing": "use"},
        "pools": {**LAB["pools"], "b200": {**LAB["pools"]["b200"], "sharing": {"timeSlicing": {"replicas": 4}}}},
    },
)
CUT = load_config(
    STACK,
    {
        **LAB,
        "gpuOperator": {"existing": "use"},
        "pools": {
            **LAB["pools"],
            "b200": {
                **LAB["pools"]["b200"],
                "taints": ["example.com/team=a:NoSchedule"],
                "sharing": {"mig": {"strategy": "mixed", "profiles": {"1g.23gb": 7}}},
            },
        },
    },
)
ONE_DRIVER = settings(existing="use", driverOwner="ClusterPolicy")
POLICY_S = changed(changed(POLICY, "spec/driver/useNvidiaDriverCRD", False), "spec/driver/version", "580.173.02")
ELSEWHERE = changed(POLICY, "metadata/annotations", {**HELM, "meta.helm.sh/release-namespace": "nvidia"})
WORKER: dict[str, Any] = {
    "metadata": {"name": "nfd", "labels": {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}}
}
BASELINE = {
    **NAMESPACE,
    "metadata": {"name": "gpu-operator", "labels": {"pod-security.kubernetes.io/enforce": "baseline"}},
}


@in_one_test(
    ("loaded", "policies", "found", "words"),
    [
        (
            USED,
            [changed(POLICY, "metadata/labels", {"app.kubernetes.io/version": "v25.10.1"})],
            {},
            "version: v25.10.1",
        ),
        (USED, [changed(POLICY, "metadata/labels", {"app.kubernetes.io/version": "23.9.0"})], {}, "the catalogue has"),
        (USED, [POLICY, changed(POLICY, "metadata/name", "b")], {}, "there are several (b, cluster-policy)"),
        (USED, [ELSEWHERE], {}, "it is in the namespace nvidia"),
        (USED, [POLICY], {"extra": []}, "gpu-operator"),
        (USED, [POLICY], {"extra": [BASELINE]}, "enforce=privileged"),
        (USED, [changed(POLICY, "spec/devicePlugin/enabled", False)], {}, "no node would offer"),
        (USED, [changed(POLICY, "spec/cdi/enabled", False)], {}, "Write gpuOperator.cdi: false"),
        (USED, [changed(POLICY, "spec/cdi/nriPluginEnabled", True)], {}, "Write gpuOperator.nri: true"),
        (USED, [changed(POLICY, "spec/devicePlugin/config/name", "theirs")], {}, "it is theirs, which has no"),
        (SHARED, [POLICY], {}, "b200 would not be shared"),
        (CUT, [POLICY], {}, "mig.strategy: it is single, and the pools need"),
        (CUT, [POLICY], {}, "migManager: it does not make the layouts"),
        (CUT, [POLICY], {}, "tolerates example.com/team=a:NoSchedule: no operand"),
        (CUT, [POLICY], {"daemonsets": [WORKER]}, "DaemonSet nfd: nothing tolerates nvidia.com/gpu=present"),
        (USED, [changed(POLICY, "spec/driver/enabled", False)], {}, "b200 would have no driver"),
        (USED, [POLICY_S], {}, "Write ClusterPolicy there"),
        (ONE_DRIVER, [POLICY], {}, "Write NVIDIADriver there"),
        (ONE_DRIVER, [changed(POLICY_S, "spec/driver/version", "570.1.1")], {}, "version 570.1.1, and b200 asks for"),
        (USED, [POLICY], {"drivers": []}, "none selects the nodes of b200"),
        (USED, [POLICY], {"drivers": [*DRIVERS, changed(DRIVERS[0], "metadata/name", "b")]}, "b, default select nodes"),
        (USED, [POLICY], {"drivers": [changed(DRIVERS[0], "spec/usePrecompiled", True)]}, "usePrecompiled is true"),
    ],
)
def test_one_that_differs_stops_the_stack_with_what_to_write(
    loaded: Loaded, policies: list[Mapping[str, Any]], found: Mapping[str, Any], words: str
) -> None:
    verdict = judged(loaded, *policies, **found)
    assert [each for each in verdict.problems if words in each], verdict.problems
    assert {each.rule for each in verdict.findings if each.is_error} == {OWNERS}


@pytest.mark.parametrize(
    ("policy", "found", "words"),
    [
        (changed(POLICY, "metadata/labels", {}), {}, "release: not known"),
        (changed(POLICY, "spec/toolkit/enabled", False), {}, "toolkit.enabled: it is off"),
        (POLICY, {"drivers": [{"metadata": {"name": "default"}, "spec": {}}]}, "it names no version for b200"),
    ],
)
def test_an_allowed_difference_is_reported_and_stops_nothing(
    policy: Mapping[str, Any], found: Mapping[str, Any], words: str
) -> None:
    verdict = judged(USED, policy, **found)
    assert verdict.problems == []
    assert any(words in each for each in verdict.notes[1:])


def test_modules_and_parameters_of_a_pool_are_compared() -> None:
    driver = {"source": "operator", "moduleType": "open", "moduleParameters": {"nvidia-uvm": {"uvm_disable_hmm": "1"}}}
    pools = {**LAB["pools"], "b200": {**LAB["pools"]["b200"], "driver": driver}}
    loaded = load_config(STACK, {**LAB, "gpuOperator": {"existing": "use"}, "pools": pools})
    texts = judged(loaded, POLICY).problems
    assert [each for each in texts if "kernelModuleType auto, and b200 asks for open" in each]
    assert [each for each in texts if "kernelModuleConfig.name=" in each and "moduleParameters" in each]
    host = {**LAB["pools"], "b200": {**LAB["pools"]["b200"], "driver": {"source": "host"}}}
    hosts = load_config(STACK, {**LAB, "gpuOperator": {"existing": "use"}, "pools": host})
    assert judged(hosts, changed(POLICY, "spec/driver/enabled", False)).problems == []


def namespace(name: str, stack: str | None = None) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {STACK_LABEL: stack} if stack else {}}}


def test_the_stacks_own_operator_is_not_another_owners() -> None:
    own = {"extra": [namespace("gpu-operator", STACK)]}
    assert judged(settings(), POLICY, **own).problems == []
    assert judged(USED, POLICY, **own).problems == [
        "gpuOperator.existing: use is set, and the cluster's GPU Operator is of this stack: remove the setting."
    ]
    assert "is not there: remove the setting" in judged(USED, extra=[]).problems[0]
    assert "Helm release nvidia/gpus) already" in judged(settings(), ELSEWHERE, **own).problems[0]


@pytest.mark.parametrize(
    ("there", "found", "words"),
    [
        (namespace("gpu-operator"), {}, "has not created it"),
        (namespace("gpu-operator", "other-lab"), {}, "is of the stack other-lab"),
        (namespace("anything", "other-lab"), {}, "is of the stack other-lab already (namespaces anything)"),
        (namespace("other"), {"schedulers": [{"metadata": {"name": "kai"}}]}, ""),
    ],
)
def test_objects_of_another_owner_stop_the_deployment(
    there: dict[str, Any], found: Mapping[str, Any], words: str
) -> None:
    problems = judged(settings(), extra=[there], **found).problems
    assert [words in each for each in problems] == ([True] if words else [])


def test_another_kai_stops_a_stack_that_installs_one() -> None:
    loaded = load_config(STACK, {**LAB, "osmo": {"mode": "backend", "serviceUrl": "https://osmo.example.com"}})
    (problem,) = judged(loaded, extra=[], schedulers=[{"metadata": {"name": "kai"}}]).problems
    assert "the scheduler KAI already" in problem


def test_a_cluster_that_the_stack_creates_has_none_to_use() -> None:
    with pytest.raises(SettingsError, match="has no GPU Operator before"):
        load("dev-westus2", [Overlay.assign(["gpuOperator.existing=use"])])
