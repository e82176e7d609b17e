"""Which failures of Azure are retried, and what is advised about others."""

from __future__ import annotations

import pytest

from physical_ai.readiness.azure_failures import (
    MAX_ATTEMPTS,
    MAX_BUSY_ATTEMPTS,
    advice,
    base_seconds,
    hint,
    may_exist,
    retry_delay,
)
from physical_ai.readiness.causes import azure_errors, workload_cause_of
from physical_ai.repository import ROOT
from tests.support.cases import in_one_test

FORBIDDEN = (
    'namespaces "gpu-operator" is forbidden: User "99999999-8888-7777-6666-555555555555" cannot patch resource '
    '"namespaces" in API group "" in the namespace "gpu-operator": User does not have access to the resource in Azure.'
)
KUBELET = 'Code="CustomKubeletIdentityMissingPermissionError" Message="The cluster user assigned identity must be …"'


BUSY = (
    'Status=409 Code="OperationNotAllowed" Message="Operation is not allowed: Another operation (Upgrading) is in '
    'progress, please wait for it to finish before starting a new operation."'
)


def test_a_busy_cluster_is_waited_for_within_an_hour() -> None:
    delays: list[float] = []
    while (seconds := retry_delay([BUSY] * (len(delays) + 1), len(delays) + 1)) is not None:
        delays.append(seconds)
    assert len(delays) == MAX_BUSY_ATTEMPTS - 1
    assert 50 * 60 <= sum(delays) <= 65 * 60
    assert "az aks nodepool list" in str(advice(BUSY))


@pytest.mark.parametrize(
    "error",
    [
        'Code="OperationNotAllowed" Message="Operation could not be completed as it results in exceeding quota"',
        "UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress",
        f"1 error occurred:\n\t* {BUSY}",
    ],
)
def test_only_a_refusal_for_another_operation_counts_as_busy(error: str) -> None:
    assert retry_delay([error], 1) is None


@pytest.mark.parametrize("code", ["AllocationFailed", "SkuNotAvailable"])
def test_a_pool_without_capacity_gets_the_command_that_deploys_the_rest(code: str) -> None:
    assert "--continue-on-error" in str(advice(f'1 error occurred:\n\t* Code="{code}" Message="…"'))


@pytest.mark.parametrize(
    "error",
    [
        KUBELET,
        "CustomPrivateDNSZoneMissingPermissionError: the cluster identity lacks the role on the zone",
        "LinkedAuthorizationFailed: the client has no permission on the linked scope …/subnets/snet-h100gpu",
        "InsufficientSubnetPermissions",
        FORBIDDEN,
    ],
)
def test_a_missing_role_is_retried(error: str) -> None:
    assert retry_delay([error], 1, base=10) == 10


@pytest.mark.parametrize(
    "error",
    [
        'Code="SkuNotAvailable" Message="…"',
        'Code="QuotaExceeded" Message="…"',
        'pods "driver" is forbidden: violates PodSecurity "baseline:latest": host namespaces',
        'namespaces "x" is forbidden: exceeded quota',
        "context deadline exceeded",
    ],
)
def test_other_failures_are_not_retried(error: str) -> None:
    assert retry_delay([error], 1) is None


@pytest.mark.parametrize(
    "error",
    [
        f"1 error occurred:\n\t* {KUBELET}\n\n",
        'resource partially created but read failed Status=404: Code="LinkedAuthorizationFailed" Message="…"',
        'the long-running operation failed: Code="LinkedAuthorizationFailed" Message="…"',
        f"Long running operation: {KUBELET}",
    ],
)
def test_what_may_exist_is_not_created_again(error: str) -> None:
    assert retry_delay([error], 1) is None
    assert may_exist(error)
    assert "again" in str(advice(error))


def test_a_refusal_at_once_leaves_nothing_behind() -> None:
    assert not may_exist(KUBELET)
    assert not may_exist(FORBIDDEN)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("count (3) must lie between minCount (0) and maxCount (2).", "two steps"),
        ("The value of agentPoolProfile.count must be between 0 and 2.", "two steps"),
        ("Cannot manually scale and enable cluster autoscaler in the same update", "two steps"),
        ('Code="PropertyChangeNotAllowed" Message="Changing property \'properties.vmSize\' is not allowed."', "cannot"),
    ],
)
def test_a_refusal_without_a_remedy_gets_advice(error: str, remedy: str) -> None:
    assert retry_delay([error], 1) is None
    assert remedy in str(advice(error))
    assert "docs/settings.md" in str(advice(error))


def test_advice_names_sections_that_exist() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    for error in ("Cannot manually scale", 'Code="PropertyChangeNotAllowed"'):
        section = str(advice(error)).partition("docs/settings.md, '")[2].partition("',")[0]
        assert f"### {section}\n" in page


def test_other_refusals_get_no_advice() -> None:
    assert advice('Code="SomethingNew" Message="…"') is None
    assert advice('pods "driver" is forbidden: exceeded count quota') is None


def test_an_unknown_code_of_azure_is_shown_with_where_to_look_it_up() -> None:
    text = str(hint('1 error occurred:\n\t* Status=400 Code="SomethingNew" Message="…"'))
    assert "The code SomethingNew is not in physical_ai/readiness/data/azure_errors.yaml" in text
    assert "https://learn.microsoft.com/" in text
    assert hint('pods "driver" is forbidden: exceeded count quota') is None
    assert "--continue-on-error" in str(hint('Code="SkuNotAvailable"'))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AuthorizationFailed", "by scope"),
        ("InvalidAuthenticationTokenTenant", "az login --tenant"),
        ("ExpiredAuthenticationToken", "az login"),
        ("NoRegisteredProviderFound", "API version"),
        ("StorageAccountAlreadyTaken", "another name"),
        ("UpstreamNotSupported", "dataServices.registry.upstreams"),
    ],
)
def test_what_a_validation_says_has_advice(code: str, words: str) -> None:
    assert words in str(advice(f"{code}: …"))


def test_only_the_latest_failure_counts() -> None:
    assert retry_delay(["SkuNotAvailable", FORBIDDEN], 2) is None
    assert retry_delay([FORBIDDEN, "SkuNotAvailable"], 2) is not None


def test_delays_grow_and_end_after_some_ten_minutes() -> None:
    delays: list[float] = []
    while (seconds := retry_delay([FORBIDDEN] * (len(delays) + 1), len(delays) + 1)) is not None:
        delays.append(seconds)
    assert delays == sorted(delays)
    assert len(delays) == MAX_ATTEMPTS - 1
    assert 10 * 60 <= sum(delays) <= 15 * 60


def test_no_failure_no_retry() -> None:
    assert retry_delay([], 0) is None


@pytest.mark.parametrize(("text", "seconds"), [("0.05", 0.05), ("0", 0), ("30", 30)])
def test_first_delay_comes_from_the_environment(text: str, seconds: float) -> None:
    assert base_seconds({"PHYSICAL_AI_RETRY_SECONDS": text}) == seconds
    assert base_seconds({}) == 15


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", ""])
def test_an_unusable_delay_names_the_variable(text: str) -> None:
    with pytest.raises(ValueError, match="PHYSICAL_AI_RETRY_SECONDS"):
        base_seconds({"PHYSICAL_AI_RETRY_SECONDS": text})


EGRESS = "VMExtensionProvisioningError: Enable failed: command terminated with exit status=50"
DRAIN = 'Code="UpgradeFailed" Message="Drain node a failed when evicting pod b failed with\nToo Many Requests error."'
SPOT = 'Code="OperationNotAllowed" Message="… exceeding approved LowPriorityCores quota. Additional details …"'


@in_one_test(
    ("error", "row"),
    [
        ("OverconstrainedZonalAllocationRequest", "no-capacity-in-zones"),
        ("ZonalAllocationFailed", "no-capacity-in-zones"),
        ("OverconstrainedAllocationRequest", "no-capacity"),
        ("SkuNotAvailable", "no-capacity"),
        ("AKSCapacityHeavyUsage", "region-full"),
        ("AksCapacityError", "region-full"),
        ("ErrCode_InsufficientVCPUQuota", "quota-exceeded"),
        (SPOT, "quota-spot"),
        ("UnsatisfiablePDB", "upgrade-budget"),
        (DRAIN, "upgrade-drain"),
        ("UpgradeFailed: Too Many Requests", "upgrade-drain"),
        (EGRESS, "no-way-out"),
        (EGRESS.replace("=50", " = 51"), "no-api-server"),
        ("K8SAPIServerDNSLookupFailVMExtensionError", "no-api-server"),
        ("SubnetIsFull", "subnet-full"),
        ("VMCannotFitEphemeralOSDisk", "disk-does-not-fit"),
        ("SubscriptionRequestsThrottled", "throttled"),
        ("RequestDisallowedByPolicy", "policy-denies"),
    ],
)
def test_events_and_deployments_know_the_same_codes(error: str, row: str) -> None:
    """One table: what an event of the autoscaler means is what a deployment gets advice about."""
    assert advice(error) == azure_errors()[row].deployment
    found = workload_cause_of("capacity", f"scaleUp: Backoff cloudProviderError {error}")
    assert found is not None
    assert found[0].id == row


@pytest.mark.parametrize("code", ["RoleAssignmentExists", "MissingSubscriptionRegistration", "ScopeLocked"])
def test_what_concerns_a_deployment_only_is_no_cause_of_a_pending_pod(code: str) -> None:
    assert advice(f'Code="{code}" Message="…"')
    assert workload_cause_of("capacity", code) is None


def test_every_row_says_where_it_is_from_and_is_found_by_its_own_symptom() -> None:
    for key, row in azure_errors().items():
        assert row.source, key
        assert row.how in ("read", "believed"), key
        assert row.deployment or row.reason, key
        assert bool(row.reason) == bool(row.fix), key


def test_an_exit_status_that_only_begins_so_is_another_one() -> None:
    assert advice(EGRESS.replace("=50", "=500")) is None


def test_no_other_list_of_azures_codes_is_left() -> None:
    """A code that is named in the data of causes belongs into the one table."""
    others = (ROOT / "physical_ai/readiness/data/workload_causes.yaml").read_text()
    for code in ("AllocationFailed", "QuotaExceeded", "SubnetIsFull", "UnsatisfiablePDB", "SkuNotAvailable"):
        assert code not in others, code


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ("1 error occurred:\n\t* 'web' timed out waiting to be Ready", "physai doctor"),
        ("1 error occurred:\n\t* timed out waiting for the condition", "physai doctor"),
        ('Helm release "a/b" failed to initialize completely. … timed out waiting for the condition', "Do not refresh"),
        ("server-side apply field conflict detected, see …", "troubleshooting.md"),
    ],
)
def test_a_failure_in_the_cluster_whose_message_is_short_gets_a_hint(error: str, hint: str) -> None:
    assert hint in str(advice(error))
    assert retry_delay([error], 1) is None


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            'Code="ManagedClusterCountExceedsQuotaLimit" Message="Operation results in exceeding quota limits for'
            ' managed clusters. Maximum allowed: 10, Current usage: 10, Additional requested: 1."',
            "no more AKS clusters",
        ),
        (
            'Code="StandardSkuPublicIPCountLimitReached" Message="Cannot create more than 20 standard public IP'
            ' addresses"',
            "az network list-usages",
        ),
    ],
)
def test_a_count_that_is_used_up_is_not_taken_for_cores(message: str, words: str) -> None:
    assert words in str(advice(message))
