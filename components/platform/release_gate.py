"""The gate at the end of a deployment: whether every release of the stack works."""

from __future__ import annotations

from collections.abc import Mapping

from components.gates.release_gate import ReleaseGate, ReleaseGateArgs
from components.kubernetes.charts import InstalledRelease
from components.platform.common import Common, InstallTarget


def declare_release_gate(
    common: Common, install: InstallTarget, releases: Mapping[str, InstalledRelease]
) -> ReleaseGate:
    namespaces = {name: each.namespace for name, each in releases.items()}
    args = ReleaseGateArgs(install.kubeconfig, namespaces, [each.resource for each in releases.values()])
    return ReleaseGate(f"{common.name}-release-gate", args, common.unprotected)
