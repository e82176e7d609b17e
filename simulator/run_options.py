"""Options of an engine operation that `pulumi` also has, and the principal that is logged in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog import nearest
from simulator.entra import DEPLOYER, Principal
from simulator.errors import UnknownTarget
from simulator.kubernetes_plugin import PluginName


@dataclass(frozen=True)
class RunOptions:
    """Options of `up`, `preview`, `refresh` and `down`."""

    refresh: bool = False
    """True to read every resource before the operation."""
    targets: tuple[str, ...] = ()
    """URNs or names of the only resources to work on; empty for all resources."""
    target_dependents: bool = False
    """True to include the resources that depend on the targets."""
    excludes: tuple[str, ...] = ()
    """URNs or names of resources that the operation leaves alone. A destroy has no such option."""
    exclude_dependents: bool = False
    """True to leave alone also the resources that depend on an excluded resource. False can damage the state: if a
    component depends on an excluded resource that does not exist yet, the engine saves a state that it cannot read
    (pulumi 3.259).
    """
    expect_no_changes: bool = False
    continue_on_error: bool = False
    """True to continue with resources that do not depend on a failed resource."""
    run_program: bool = False
    """True to run the program in a refresh or a destroy, which do not need it."""
    kubernetes_plugin: PluginName | None = None
    """Plugin that runs the Kubernetes resources; None for the plugin that the stack's first `up` chose."""
    principal: Principal = DEPLOYER
    recover: bool = True
    """True to begin with a repair of what a killed run has left; `pulumi` itself does no such repair."""

    def arguments(self, resources: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Arguments of the Automation API that `up`, `preview`, `refresh` and `destroy` share.

        Raises:
            UnknownTarget: no resource in state has such a name.
        """
        urns = [str(resource["urn"]) for resource in resources]
        targets, excluded = (
            list(dict.fromkeys(urn for target in given for urn in resolve(target, urns)))
            for given in (self.targets, self.excludes)
        )
        named = {"target": targets or None, "target_dependents": self.target_dependents or None}
        if not excluded:
            return named
        return {**named, "exclude": excluded, "exclude_dependents": self.exclude_dependents or None}


def resolve(target: str, urns: Sequence[str]) -> list[str]:
    """URNs of the resources with the name `target`. A URN or a pattern with `*` is returned unchanged, since its
    resource need not exist yet.

    Raises:
        UnknownTarget: no resource has this name.

    >>> resolve("net", ["urn:pulumi:dev::p::azure-native:network:VirtualNetwork::net"])
    ['urn:pulumi:dev::p::azure-native:network:VirtualNetwork::net']

    """
    if target.startswith("urn:pulumi:") or "*" in target:
        return [target]
    found = [urn for urn in urns if urn.rsplit("::", 1)[-1] == target]
    if not found:
        raise UnknownTarget(target, near(target, urns))
    return found


def near(target: str, urns: Sequence[str]) -> list[str]:
    """Names of existing resources that resemble the unknown name `target` or contain it, at most five."""
    names = sorted({urn.rsplit("::", 1)[-1] for urn in urns})
    alike = nearest(target, names)
    found = [alike] if alike else []
    found += [name for name in names if target.lower() in name.lower() and name != alike]
    return found[:5]
