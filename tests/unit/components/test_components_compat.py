"""Version rules before a deployment: Azure gets no stack that breaks one, a simulation says so."""

from __future__ import annotations

import datetime

import pulumi
import pytest

from physical_ai.catalog import newest_release
from physical_ai.settings.rules.compat import refusals
from tests.support.gpu_settings import H100, given_settings
from tests.support.recording import TODAY, record

OLD = {"gpuOperator": {"version": "v25.3.4"}}


@pytest.mark.parametrize("preview", [True, False])
def test_a_stack_out_of_support_is_refused_with_rule_source_and_fix(preview: bool) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        record("dev-westus2", OLD, preview=preview, simulated=False)
    message = str(caught.value)
    assert "stacks/Pulumi.dev-westus2.yaml: physical-ai:gpuOperator.version" in message
    assert "(operator-end-of-support; pools h100gpu, rtxprogpu; NVIDIA GPU Operator docs, life cycle policy)" in message
    assert f"Use {newest_release().version}." in message
    assert caught.value.__suppress_context__


def test_every_rule_is_reported_together_with_example_values() -> None:
    mixed = {**OLD, "cluster": {"kubernetesVersion": "1.36"}}
    with pytest.raises(pulumi.RunError) as caught:
        record("prod-westus2", mixed, simulated=False)
    message = str(caught.value)
    assert "cluster.apiAccess.authorizedIpRanges[0]" in message
    assert "operator-end-of-support" in message
    assert "kubernetes-too-new" in message


def test_a_simulation_runs_and_warns_that_azure_would_not_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: warned.append(text))
    assert record("dev-westus2", OLD).of_type("Release")
    (message,) = [text for text in warned if "operator-end-of-support" in text]
    assert (
        "warning: physical-ai:gpuOperator.version\n  A real deployment would be refused: GPU Operator 25.3" in message
    )


@pytest.mark.parametrize(("today", "is_out"), [(TODAY, True), (datetime.date(2025, 12, 1), False)])
def test_support_is_judged_at_the_day_of_the_deployment(today: datetime.date, is_out: bool) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        record("dev-westus2", OLD, simulated=False, today=today)
    assert ("operator-end-of-support" in str(caught.value)) is is_out
    assert "kubernetes-too-new" in str(caught.value)


def test_a_stack_within_support_is_refused_nothing() -> None:
    assert refusals(given_settings(), TODAY) == []


def test_a_refusal_names_the_file_and_the_pools_setting() -> None:
    loaded = given_settings(
        f"{H100}.sharing={{mig: {{strategy: single, profiles: {{1g.12gb: 7}}}}}}", f"{H100}.driver.version=570.148.08"
    )
    (fault,) = [fault for fault in refusals(loaded, TODAY) if "driver-mig-bug" in fault.problem]
    assert (fault.file, fault.where) == ("--set", f"{H100}.driver.version")
    assert "NVIDIA/gpu-operator#1361" in fault.problem
    assert fault.fix is not None
