"""Rules on Azure Monitor workspaces, data collection, rule groups, action groups and Managed Grafana."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import Json, get, items
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.rules.base import Delete, Put, on_delete, on_put, refuse

RULES_OF_GROUP = 20
ALERT_ONLY = ("for", "severity", "annotations", "actions", "resolveConfiguration")
MINUTES = re.compile(r"^PT(\d+)M$")
REGIONAL = ("global", "swedencentral", "germanywestcentral", "northcentralus", "southcentralus", "eastus2")
"""Locations of action groups (Azure Monitor docs, action-groups)."""
DESTINATIONS = ("monitoringAccounts", "logAnalytics", "azureMonitorMetrics", "eventHubs", "storageAccounts")
ENDPOINT_ASSOCIATION = "configurationAccessEndpoint"


@on_put("DataCollectionRule", "dcr-region", "dcr-dest-ref", "dcr-dest-unique", "dcr-kind")
def data_collection_rule(put: Put) -> Iterator[Refusal]:
    if put.old is not None and put.old.body.get("kind") != put.body.get("kind"):
        yield refuse(put, "dcr-kind", "The kind of a data collection rule cannot be changed.", "kind")
    names = [str(each.get("name")) for each in _destinations(put)]
    for name, times in Counter(names).items():
        if times > 1:
            yield refuse(put, "dcr-dest-unique", f"{times} destinations are named '{name}'.", "properties.destinations")
    flows: list[Json] = items(put.properties, "dataFlows")
    for index, flow in enumerate(flows):
        for name in flow.get("destinations", []):
            if name not in names:
                message = f"Data flow refers to the unknown destination '{name}'."
                yield refuse(put, "dcr-dest-ref", message, f"properties.dataFlows[{index}].destinations")
    for field in ("dataCollectionEndpointId", *(f"destinations.{i}" for i in range(len(names)))):
        target_id = put.properties.get(field) if field.startswith("data") else _account(put, field)
        target = put.azure.get(target_id)
        if isinstance(target_id, str) and target is None:
            message = f"The resource '{target_id}' was not found."
            yield refuse(put, "dcr-dest-ref", message, f"properties.{field}", "InvalidPayload")
        elif target is not None and target.location != location(str(put.body.get("location", ""))):
            message = f"'{ids.name(target.id)}' is in {target.location}, and the rule in {put.body.get('location')}."
            yield refuse(put, "dcr-region", message, "location")


def _destinations(put: Put) -> list[Json]:
    return [each for kind in DESTINATIONS for each in items(put.properties, f"destinations.{kind}")]


def _account(put: Put, field: str) -> Any:
    return _destinations(put)[int(field.rpartition(".")[2])].get("accountResourceId")


@on_delete("DataCollectionRule", "dcr-delete-used")
def used_rule(request: Delete) -> Iterator[Refusal]:
    for each in request.azure.of_kind("DataCollectionRuleAssociation"):
        if ids.same(get(each.body, "properties.dataCollectionRuleId"), request.id):
            message = f"The data collection rule is associated with '{ids.name(ids.parent(ids.parent(each.id)))}'."
            yield refuse(request, "dcr-delete-used", message)


@on_put("DataCollectionRuleAssociation", "dcra-one", "dcra-dce-name")
def association(put: Put) -> Iterator[Refusal]:
    watched, rule = str(put.inputs.get("resourceUri", "")), put.properties.get("dataCollectionRuleId")
    endpoint = put.properties.get("dataCollectionEndpointId")
    if (rule is None) == (endpoint is None):
        message = "Exactly one of dataCollectionRuleId and dataCollectionEndpointId must be specified."
        yield refuse(put, "dcra-one", message, "properties")
    if endpoint is not None and put.inputs.get("associationName") != ENDPOINT_ASSOCIATION:
        message = f"An association with an endpoint must be named {ENDPOINT_ASSOCIATION}."
        yield refuse(put, "dcra-dce-name", message, "name")
    for wanted in (watched, rule, endpoint):
        if isinstance(wanted, str) and put.azure.get(wanted) is None:
            yield refuse(put, "arm-ref-missing", f"The Resource '{wanted}' was not found.", code="ResourceNotFound")


@on_put(
    "PrometheusRuleGroup", "prg-scopes", "prg-rule", "prg-record-fields", "prg-interval", "prg-count", "prg-severity"
)
def rule_group(put: Put) -> Iterator[Refusal]:
    scopes = [put.azure.get(each) for each in items(put.properties, "scopes")]
    workspaces = [each for each in scopes if each is not None and each.kind == "AzureMonitorWorkspace"]
    if not workspaces:
        yield refuse(put, "prg-scopes", "A scope must be an Azure Monitor workspace.", "properties.scopes")
    if any(each.location != location(str(put.body.get("location", ""))) for each in workspaces):
        message = "The rule group and its Azure Monitor workspace are in different regions."
        yield refuse(put, "prg-scopes", message, "location")
    interval = put.properties.get("interval", "PT1M")
    match = MINUTES.match(interval) if isinstance(interval, str) else None
    if match is None or not 1 <= int(match[1]) <= 15:
        message = f"interval '{interval}' must be an ISO 8601 duration from PT1M to PT15M."
        yield refuse(put, "prg-interval", message, "properties.interval")
    rules: list[Json] = items(put.properties, "rules")
    if len(rules) > RULES_OF_GROUP:
        message = f"The group has {len(rules)} rules; at most {RULES_OF_GROUP} are allowed."
        yield refuse(put, "prg-count", message, "properties.rules")
    for index, rule in enumerate(rules):
        yield from _rule(put, rule, f"properties.rules[{index}]")


def _rule(put: Put, rule: Json, here: str) -> Iterator[Refusal]:
    if (rule.get("alert") is None) == (rule.get("record") is None):
        yield refuse(put, "prg-rule", "A rule needs exactly one of alert and record.", here)
    given = [name for name in ALERT_ONLY if rule.get(name) is not None]
    if rule.get("record") is not None and given:
        message = f"The recording rule '{rule['record']}' has {', '.join(given)}, which only alerts have."
        yield refuse(put, "prg-record-fields", message, here)
    severity = rule.get("severity")
    if severity is not None and severity not in range(5):
        yield refuse(put, "prg-severity", f"severity {severity} is outside 0..4.", f"{here}.severity")
    for action in items(rule, "actions"):
        group = action.get("actionGroupId")
        # A group elsewhere in the tenant is not part of this simulation.
        own = isinstance(group, str) and group.startswith(f"/subscriptions/{put.azure.directory.subscription}/")
        if own and put.azure.get(group, "ActionGroup") is None:
            yield refuse(put, "arm-ref-missing", f"The action group '{group}' was not found.", f"{here}.actions")


@on_put("ActionGroup", "ag-location", "ag-names", "ag-email")
def action_group(put: Put) -> Iterator[Refusal]:
    place = str(put.body.get("location", ""))
    if location(place) not in REGIONAL:
        message = f"The location '{place}' is not available for action groups; use Global."
        yield refuse(put, "ag-location", message, "location")
    receivers = [
        (kind, each) for kind in put.properties if kind.endswith("Receivers") for each in items(put.properties, kind)
    ]
    for name, times in Counter(str(each.get("name")) for _, each in receivers).items():
        if times > 1:
            yield refuse(put, "ag-names", f"{times} receivers are named '{name}'.", "properties")
    for kind, each in receivers:
        if kind == "emailReceivers" and not re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", str(each.get("emailAddress"))):
            message = f"'{each.get('emailAddress')}' is not an e-mail address."
            yield refuse(put, "ag-email", message, "properties.emailReceivers")


@on_put("Grafana", "graf-zone")
def grafana(put: Put) -> Iterator[Refusal]:
    old = get(put.old.body, "properties.zoneRedundancy") if put.old is not None else None
    if put.old is not None and (old or "Disabled") != (put.properties.get("zoneRedundancy") or "Disabled"):
        message = "zoneRedundancy is fixed when the workspace is created."
        yield refuse(put, "graf-zone", message, "properties.zoneRedundancy")
    linked = items(put.properties, "grafanaIntegrations.azureMonitorWorkspaceIntegrations")
    for each in linked:
        wanted = each.get("azureMonitorWorkspaceResourceId")
        if isinstance(wanted, str) and put.azure.get(wanted, "AzureMonitorWorkspace") is None:
            yield refuse(put, "arm-ref-missing", f"The workspace '{wanted}' was not found.", code="ResourceNotFound")
