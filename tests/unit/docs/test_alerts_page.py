"""From a firing alert to what to do: each alert links to a section that exists."""

from __future__ import annotations

import re
import shlex

from docs.generator.alerts import FILE
from physical_ai.catalog.telemetry_rows import xids
from physical_ai.repository import DOCS
from physical_ai.settings import existing, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.rule_rows import alert_rows
from physical_ai.telemetry.rules import alerts


def test_every_alert_of_every_stack_links_to_its_section() -> None:
    sections = {title.lower() for title in re.findall(r"^### (\w+)$", FILE.read_text(), re.MULTILINE)}
    for stack in existing():
        for alert in alerts(rule_parameters(load(stack).settings)):
            page, _, anchor = alert.runbook.partition("#")
            assert DOCS.parent / page == FILE
            assert anchor in sections


def test_the_page_has_every_xid() -> None:
    text = FILE.read_text()
    assert all(f"| {code} | " in text for code in xids())


AZ = {
    "vmss restart": {"--resource-group", "--name", "--instance-ids"},
    "aks nodepool delete-machines": {"--resource-group", "--cluster-name", "--name", "--machine-names"},
}
"""Commands of the Azure CLI with their required options (Azure CLI reference, vmss and aks nodepool)."""
EXPLAINED = {"NODE", "POD", "NAMESPACE", "STACK"}
"""Placeholders that the page explains; those of Azure are names that its portal shows."""
AZURES = {"NODE_RESOURCE_GROUP", "SCALE_SET", "INSTANCE", "RESOURCE_GROUP", "CLUSTER", "POOL"}


def test_commands_are_complete_and_their_placeholders_known() -> None:
    """tests/simulator/test_telemetry_objects.py runs those of kubectl, test_docs_commands.py checks those of physai."""
    commands = {text for row in alert_rows().values() for text in row.commands}
    for text in commands:
        program, *words = shlex.split(text)
        placeholders = {word.partition("=")[2] or word for word in words if re.fullmatch(r"([\w.]+=)?[A-Z_]+", word)}
        assert placeholders <= EXPLAINED | AZURES | {"WORKFLOW"}, text
        assert program in ("kubectl", "physai", "osmo", "az")
        if program == "az":
            name = next(name for name in AZ if " ".join(words).startswith(name))
            assert {word for word in words if word.startswith("--")} == AZ[name]
    text = FILE.read_text()
    assert all(f"`{name}`" in text for name in EXPLAINED)
    assert "spec.providerID" in text  # where the names of the scale set and the instance are
