"""Rules about private addresses that tasks may reach."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from physical_ai.catalog.azure_addresses import AZURE_DNS, LINK_LOCAL
from physical_ai.settings.facts.addresses import PRIVATE, SHARED
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_RANGES: Path = ("network", "isolation", "taskRanges")
_METADATA = (IPv4Network(LINK_LOCAL), IPv4Network(AZURE_DNS))
_OF_METADATA = Rule("task-metadata", "Azure docs, virtual-machines/instance-metadata-service")
_OF_PODS = Rule("task-range-of-pods", "AKS docs, azure-cni-powered-by-cilium: no ipBlock of Pods or nodes")


def check_isolation(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about the destinations of tasks."""
    if not trust(_RANGES):
        return
    for index, block in enumerate(settings.network.isolation.task_ranges):
        setting: Path = (*_RANGES, index)
        if any(block.overlaps(each) for each in _METADATA):
            problem = f"{block} includes a metadata service, which gives every task the identity of its node."
            yield error(setting, problem, "Write the private ranges that tasks need.", rule=_OF_METADATA)
        elif not any(block.subnet_of(each) for each in (*PRIVATE, SHARED)):
            problem = f"{block} is not private. Tasks reach public addresses already."
            yield warning(setting, problem, "Remove it.")
        yield from _inside(settings, trust, setting, block)


def _inside(settings: Settings, trust: Trust, here: Path, block: IPv4Network) -> Iterator[SettingFinding]:
    """Warnings about allowed address ranges that overlap the ranges of Pods or Services, which a NetworkPolicy does not
    select by address.
    """
    for key, own in (("podCidr", settings.network.pod_cidr), ("serviceCidr", settings.network.service_cidr)):
        path: Path = ("network", key)
        if trust(path) and block.overlaps(own):
            problem = f"{block} overlaps network.{key} {own}: a policy does not select Pods or Services by address."
            yield warning(here, problem, "Remove it.", others=(path,), rule=_OF_PODS)
