"""Whatever pools a stack configures, the program upholds what AKS and the rest of the platform rely on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from physical_ai.findings import Severity
from physical_ai.settings.facts.pools import GPU_TAINT_KEY
from tests.support.examples import examples
from tests.support.recording import Recording, record
from workbench.policies import evaluate

STACK = "dev-westus2"
SIZES = {
    "Standard_NC40ads_H100_v5": ("operator", "aks"),
    "Standard_NC144ds_xl_RTXPRO6000BSE_v6": ("grid", "aks"),
}

quick = settings(examples(25), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])

names = st.from_regex(r"[a-z][a-z0-9]{0,11}", fullmatch=True).filter(lambda name: name not in ("system", "cpu"))
label_values = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
fixed = st.integers(0, 5).map(lambda count: {"count": count})


@st.composite
def autoscaled(draw: st.DrawFn) -> dict[str, int]:
    low = draw(st.integers(0, 3))
    high = draw(st.integers(max(low, 1), 5))
    scale = {"min": low, "max": high}
    return {**scale, "initial": draw(st.integers(low, high))} if draw(st.booleans()) else scale


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Any]:
    """One to four pools beside those of the stack file, which are taken away."""
    wanted = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    made: dict[str, Any] = {"h100gpu": None, "rtxprogpu": None}
    for index, name in enumerate(wanted):
        size = draw(st.sampled_from(sorted(SIZES)))
        made[name] = {
            "sku": size,
            "driver": {"source": draw(st.sampled_from(SIZES[size]))},
            "priority": draw(st.sampled_from(["Regular", "Spot"])),
            "scale": draw(st.one_of(fixed, autoscaled())),
            "subnet": f"10.40.{16 + index}.0/24",
            "labels": draw(st.dictionaries(label_values.map(lambda key: f"team/{key}"), label_values, max_size=2)),
            "osDisk": {"type": "Managed", "sizeGb": draw(st.integers(128, 1024))},
        }
    return made


@pytest.mark.deep  # in `make test`: the committed stacks, in test_declared_resources.py
@quick
@given(pools(), st.booleans())
def test_no_rule_is_broken_and_pools_carry_what_was_requested(made: dict[str, Any], preview: bool) -> None:
    recording = record(STACK, {"pools": made}, preview=preview)
    found = evaluate(recording.stack)
    # A warning is about what was asked for, such as on-demand GPUs in dev.
    assert [str(finding) for finding in found if finding.severity is Severity.ERROR] == []
    if not preview:
        carries(recording, made)


def carries(recording: Recording, made: dict[str, Any]) -> None:
    sent = {each.inputs["agentPoolName"]: each for each in recording.of_type("AgentPool")}
    wanted = {name: pool for name, pool in made.items() if pool is not None}
    assert set(sent) - {"cpu"} >= set(wanted)
    for name, pool in wanted.items():
        inputs, scale = sent[name].inputs, pool["scale"]
        assert inputs["vmSize"] == pool["sku"]
        assert inputs["nodeLabels"].items() >= pool["labels"].items()
        assert inputs["nodeLabels"]["physical-ai/gpu-driver"] == pool["driver"]["source"]
        assert inputs["gpuProfile"]["driver"] == ("Install" if pool["driver"]["source"] == "aks" else "None")
        assert any(taint.startswith(f"{GPU_TAINT_KEY}=") for taint in inputs["nodeTaints"])
        assert ("upgradeSettings" in inputs) == (pool["priority"] == "Regular")
        assert inputs["enableAutoScaling"] == ("count" not in scale)
        assert inputs.get("minCount", 0) <= inputs["count"] <= inputs.get("maxCount", inputs["count"])
        assert inputs["vnetSubnetID"].endswith(f"/subnets/snet-{name}")
    subnets = {each.inputs["subnetName"] for each in recording.of_type("Subnet")}
    joinable = {each.inputs["scope"].rpartition("/")[2] for each in recording.of_type("RoleAssignment")}
    used = {each.inputs["vnetSubnetID"].rpartition("/")[2] for each in sent.values()}
    assert used <= subnets <= joinable
