"""`physai check`: what Azure would refuse, reported before the deployment; and what is known without a query."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Overlay, load
from physical_ai.subscription.needs import (
    ACTIONS,
    DATA_ACTIONS,
    METRICS_ACTIONS,
    actions,
    denied,
    namespaces,
)
from physical_ai.subscription.needs_private import private_actions
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from tests.support.cases import in_one_test
from tests.support.stacks import STACKS
from tests.unit.conftest import Simulate
from workbench.preflight import AzureRest, Unanswered, Usage, check

TODAY = datetime.date(2026, 11, 21)


def on_path(name: str) -> str | None:
    return f"/usr/bin/{name}"


def found(
    stack: str = "dev-westus2", answers: Answers | None = None, *assignments: str
) -> dict[tuple[str, str], list[Finding]]:
    """Findings by topic and subject."""
    settings = load(stack, [Overlay.assign(list(assignments))] if assignments else []).settings
    azure = AzureRest(answers or Answers(), SUBSCRIPTION)
    by_place: dict[tuple[str, str], list[Finding]] = {}
    for each in check(settings, azure, on_path, TODAY):
        by_place.setdefault((each.rule, each.where), []).append(each)
    return by_place


def one(stack: str, answers: Answers | None, topic: str, subject: str, *assignments: str) -> Finding:
    (finding,) = found(stack, answers, *assignments)[topic, subject]
    return finding


def limit(name: str, value: int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        (row,) = [each for each in document["value"] if each["name"]["value"] == name]
        row["limit"] = value

    return change


def test_what_somebody_has_to_import_is_asked_about_with_the_command() -> None:
    finding = one("prod-westeurope", None, "image", "docker.io/envoyproxy/envoy:v1.38.1")
    assert finding.severity is Severity.UNKNOWN
    assert re.match(r"az acr import --name crprodwesteurope\w{8} --source docker\.io/", finding.fix or "")


def test_quota_for_the_most_with_surge_is_enough() -> None:
    finding = one("dev-westus2", None, "quota", "lowPriorityCores")
    assert finding.severity is Severity.OK
    assert "400 of 400 vCPU free" in finding.problem
    assert "368 at maximum" in finding.problem


def test_quota_that_lasts_for_the_beginning_only_is_a_warning() -> None:
    answers = Answers().change("usages", limit("lowPriorityCores", 200))
    finding = one("dev-westus2", answers, "quota", "lowPriorityCores")
    assert (finding.severity, "fewer than the maximum" in finding.problem) == (Severity.WARNING, True)


def test_quota_that_does_not_last_for_the_beginning_is_an_error() -> None:
    finding = one("prod-westus2", None, "quota", "StandardNCdsRTXPRO6000BSEv6XLFamily")
    assert finding.severity is Severity.ERROR
    assert "0 of 0 vCPU free" in finding.problem


def test_what_is_used_already_is_not_free() -> None:
    finding = one("dev-westus2", None, "quota", "cores")
    assert "250 of 350 vCPU free" in finding.problem


def test_the_surge_of_upgrades_counts() -> None:
    # h100gpu: 2 nodes of 40 at most; the family has 80.
    assert one("staging-westus2", None, "quota", "StandardNCadsH100v5Family").severity is Severity.OK
    surge = "pools.h100gpu.upgrade={maxSurge: '1', maxUnavailable: '0'}"
    assert one("staging-westus2", None, "quota", "StandardNCadsH100v5Family", surge).severity is Severity.WARNING


def test_a_quota_that_azure_does_not_list_is_reported_and_not_assumed_to_suffice() -> None:
    answers = Answers().change("usages", lambda document: document["value"].clear())
    assert one("dev-westus2", answers, "quota", "cores").severity is Severity.UNKNOWN


def without(*names: str) -> Callable[[Any], None]:
    """The answer of a subscription that is not entitled to these families: no row."""

    def change(document: Any) -> None:
        document["value"] = [each for each in document["value"] if each["name"]["value"] not in names]

    return change


def test_a_quota_without_a_row_is_none_and_an_error_where_the_first_nodes_need_it() -> None:
    h100 = "StandardNCadsH100v5Family"
    finding = one("prod-westus2", Answers().change("usages", without(h100)), "quota", h100)
    assert finding.severity is Severity.ERROR
    assert finding.fix is not None
    assert "80 vCPU or more" in finding.fix
    spot = one("dev-westus2", Answers().change("usages", without("lowPriorityCores")), "quota", "lowPriorityCores")
    assert spot.severity is Severity.ERROR
    empty = ("pools.h100gpu.scale={min: 0, max: 2, initial: 0}",)
    later = one("staging-westus2", Answers().change("usages", without(h100)), "quota", h100, *empty)
    assert later.severity is Severity.WARNING


def test_a_family_is_looked_up_by_the_name_that_azure_gives_for_its_sizes() -> None:
    def change(document: Any) -> None:
        for row in document["value"]:
            if row["name"] == "Standard_NC40ads_H100_v5":
                row["family"] = "standardNCH100Family"

    answers = Answers().change("skus", change).change("usages", limit("StandardNCadsH100v5Family", 0))
    assert ("quota", "standardNCH100Family") in found("prod-westus2", answers)


def test_a_size_that_the_subscription_may_not_use_is_an_error_with_azures_reason() -> None:
    messages = [each.problem for each in found()["size", "rtxprogpu"]]
    assert any("NotAvailableForSubscription" in message for message in messages)
    assert any("can't be Spot" in message for message in messages)


def test_a_size_on_a_later_page_is_found() -> None:
    assert one("dev-westus2", None, "size", "h100gpu").severity is Severity.OK


def test_a_zone_that_is_restricted_is_not_offered() -> None:
    finding = one("prod-westus2", None, "size", "cpu")
    assert finding.severity is Severity.ERROR
    assert "zone 3; it is in 1, 2" in finding.problem


def test_a_size_that_is_not_listed_names_regions_that_have_it() -> None:
    finding = one("dev-westus2", None, "size", "h100gpu", "pools.h100gpu.sku=Standard_NC80adis_H100_v5")
    assert finding.severity is Severity.ERROR
    assert "eastus2" in (finding.fix or "")


def test_where_azure_and_the_catalogue_differ_the_catalogue_is_to_be_corrected() -> None:
    def change(document: Any) -> None:
        for row in document["value"]:
            if row["name"] == "Standard_NC40ads_H100_v5":
                row["family"] = "standardNCH100Family"

    finding = one("dev-westus2", Answers().change("skus", change), "size", "h100gpu")
    assert finding.severity is Severity.WARNING
    assert "standardNCH100Family" in finding.problem


def test_a_region_without_sizes_is_reported_as_such() -> None:
    answers = Answers().change("skus", lambda document: (document["value"].clear(), document.pop("nextLink", None)))  # pyright: ignore[reportArgumentType]
    assert one("dev-westus2", answers, "region", "westus2").severity is Severity.ERROR


@pytest.mark.parametrize(
    ("version", "severity"),
    [("1.36", Severity.OK), ("1.36.3", Severity.OK), ("1.36.1", Severity.ERROR), ("1.37", Severity.WARNING)],
)
def test_the_kubernetes_version_has_to_be_offered_in_the_region(version: str, severity: Severity) -> None:
    assignments = (f'cluster.kubernetesVersion="{version}"', "cluster.upgrades.channel=none")
    assert one("dev-westus2", None, "kubernetes", version, *assignments).severity is severity


def test_a_provider_that_is_not_registered_is_reported_with_the_command_that_registers_it() -> None:
    finding = one("dev-westus2", None, "provider", "Microsoft.OperationalInsights")
    assert finding.severity is Severity.ERROR
    assert finding.fix == "az provider register --namespace Microsoft.OperationalInsights"
    assert one("dev-westus2", None, "provider", "Microsoft.Insights").severity is Severity.OK


@pytest.mark.parametrize(
    ("role", "lacks"),
    [
        ("owner", []),
        ("contributor-and-user-access-administrator", []),
        ("contributor", ["may not: Microsoft.Authorization/roleAssignments/write."]),
    ],
)
def test_the_callers_rights_are_those_of_their_roles(role: str, lacks: list[str]) -> None:
    findings = found("dev-westus2", Answers(permissions=f"permissions-{role}.json"))["role", "you"]
    assert [each.problem for each in findings if each.severity is Severity.ERROR] == lacks
    assert all(each.severity is Severity.OK for each in findings) is not bool(lacks)


def test_a_reader_may_do_nothing_of_it() -> None:
    findings = found("dev-westus2", Answers(permissions="permissions-reader.json"))["role", "you"]
    assert len(findings) == sum(len(each) for each in ACTIONS.values())


def test_every_action_is_denied_without_permissions() -> None:
    assert denied(["a/b/write"], []) == ["a/b/write"]


@in_one_test("stack", STACKS)
def test_every_resource_that_the_program_declares_has_its_rights_listed(simulate: Simulate, stack: str) -> None:
    declared = {each.type for each in simulate(stack).resources if each.type.startswith("azure-native:")}
    assert declared <= {*ACTIONS, *METRICS_ACTIONS, *DATA_ACTIONS, *private_actions(load(stack).settings)}


def test_data_services_have_their_rights_listed_and_are_needed_where_they_are_declared(simulate: Simulate) -> None:
    declared = {each.type for each in simulate("dev-westus2", {"dataServices": {"source": "azure"}}).resources}
    declared = {each for each in declared if each.startswith("azure-native:")}
    assert declared <= {*ACTIONS, *DATA_ACTIONS}
    assert set(DATA_ACTIONS) <= declared
    assert "Microsoft.DBforPostgreSQL" in namespaces(data=True)
    assert "Microsoft.DBforPostgreSQL" not in namespaces()
    assert "Microsoft.Cache/redisEnterprise/databases/listKeys/action" in actions(data=True)


def test_data_services_in_the_cluster_need_nothing_registered_in_azure() -> None:
    plain, inside = found(), found("dev-westus2", None, "dataServices.source=inCluster")
    assert set(inside) == set(plain)
    assert ("provider", "Microsoft.DBforPostgreSQL") in found("dev-westus2", None, "dataServices.source=azure")


def test_rights_and_registrations_for_metrics_are_needed_with_metrics_only() -> None:
    assert not {"Microsoft.Monitor", "Microsoft.Dashboard"} & set(namespaces())
    assert {"Microsoft.Monitor", "Microsoft.Dashboard", "Microsoft.AlertsManagement"} <= set(namespaces(metrics=True))
    assert set(actions()) < set(actions(metrics=True))


def test_a_subscription_that_is_disabled_is_an_error() -> None:
    def change(document: Any) -> None:
        document["state"] = "Disabled"

    findings = found("dev-westus2", Answers().change(SUBSCRIPTION, change))
    assert findings["subscription", f"Robotics ({SUBSCRIPTION})"][0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("refused", "place"),
    [
        ("usages", ("quota", "all usages")),
        ("skus", ("size", "all pools")),
        ("providers", ("provider", "all")),
        ("permissions", ("role", "you")),
        ("kubernetesVersions", ("kubernetes", "1.36")),
    ],
)
def test_what_azure_does_not_answer_is_unknown_and_hides_nothing_else(refused: str, place: tuple[str, str]) -> None:
    findings = found("dev-westus2", Answers().refuse(refused))
    (unknown,) = findings[place]
    assert unknown.severity is Severity.UNKNOWN
    assert "403" in unknown.problem
    assert len({topic for topic, _ in findings}) >= 6


def test_answers_that_have_another_form_raise_nothing() -> None:
    for document in ({}, [], "text", {"value": None}, {"value": [None, 1, {}]}, {"value": {"a": 1}}, {"values": [[]]}):
        azure = AzureRest(lambda address, parameters, document=document: document, SUBSCRIPTION)
        assert check(load("dev-westus2").settings, azure, on_path, TODAY)


def test_a_list_that_refers_to_another_host_is_not_followed() -> None:
    def get(address: str, parameters: Mapping[str, str]) -> Any:
        assert "example.com" not in address
        return {"value": [], "nextLink": "https://example.com/steal"}

    with pytest.raises(Unanswered, match="another host"):
        AzureRest(get, SUBSCRIPTION).usages("westus2")


def test_a_list_that_never_ends_is_given_up() -> None:
    endless = {"value": [], "nextLink": "https://management.azure.com/again"}
    with pytest.raises(Unanswered, match="does not end"):
        AzureRest(lambda address, parameters: endless, SUBSCRIPTION).providers()


def test_a_negative_limit_is_none() -> None:
    answers = Answers().change("usages", limit("cores", -1))
    assert AzureRest(answers, SUBSCRIPTION).usages("westus2")["cores"] == Usage(100, -1)
    assert one("dev-westus2", answers, "quota", "cores").severity is Severity.OK


def test_without_azure_the_catalogue_reports_what_it_can_and_the_rest_is_unknown() -> None:
    findings = check(load("dev-westus2").settings, None, on_path, TODAY)
    by_topic = {each.rule: each.severity for each in findings}
    assert by_topic["kubernetes"] is Severity.OK
    assert by_topic["quota"] is Severity.UNKNOWN
    assert by_topic["role"] is Severity.UNKNOWN
    assert all("not queried" in each.problem for each in findings if each.severity is Severity.UNKNOWN)
    late = check(load("dev-westus2").settings, None, on_path, datetime.date(2027, 8, 1))
    assert next(each for each in late if each.rule == "kubernetes").severity is Severity.ERROR


def test_without_kubelogin_nothing_inside_the_cluster_can_be_made() -> None:
    findings = check(load("dev-westus2").settings, None, lambda name: None, TODAY)
    assert next(each for each in findings if each.rule == "tool").severity is Severity.ERROR


def test_the_namespaces_are_those_of_the_resources_and_of_the_nodes() -> None:
    assert "Microsoft.ContainerService" in namespaces()
    assert "Microsoft.Compute" in namespaces()
    assert "Microsoft.Authorization" not in namespaces()


LTS = ("cluster.supportPlan=AKSLongTermSupport", "cluster.tier=Premium", "cluster.upgrades.channel=none")


def test_a_minor_of_long_term_support_needs_the_plan() -> None:
    def only_long_term(document: Any) -> None:
        for row in document["values"]:
            if row["version"] == "1.35":
                row["capabilities"]["supportPlan"] = ["AKSLongTermSupport"]

    asked = ('cluster.kubernetesVersion="1.35"', "cluster.upgrades.channel=none")
    answers = Answers().change("kubernetesVersions", only_long_term)
    refused = one("dev-westus2", answers, "kubernetes", "1.35", *asked)
    assert refused.severity is Severity.ERROR
    assert "supportPlan: AKSLongTermSupport, tier: Premium" in (refused.fix or "")
    taken = one("dev-westus2", answers, "kubernetes", "1.35", asked[0], *LTS)
    assert taken.severity is Severity.OK
