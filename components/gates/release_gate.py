"""Last step of a deployment: it fails if a Helm release in the cluster has failed, even if the engine's state shows no
failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.gates.gates import mode, reads_the_cluster
from physical_ai.citations import cited
from physical_ai.readiness import Get, Unreachable, Unusable
from physical_ai.readiness.client import connect
from physical_ai.readiness.releases import not_deployed
from physical_ai.readiness.waiting import DELETES_NOTHING

FIX = cited(
    "`helm history NAME -n NAMESPACE` shows what happened. Once its cause is gone, `helm rollback NAME REVISION -n "
    "NAMESPACE` repeats the revision that failed; kai-scheduler is uninstalled instead. Pulumi itself may see no "
    "difference. See docs/runbooks/stuck-release.md."
)


@dataclass(frozen=True)
class ReleaseGateArgs:
    """Inputs of `ReleaseGate`.

    `releases`: namespace of each Helm release, by the release's name.
    `after`: the resources of the Helm releases.
    """

    kubeconfig: pulumi.Input[str]
    releases: Mapping[str, str]
    after: Sequence[pulumi.Resource]
    connect: Callable[[str], Get] | None = None
    """Function that opens a reader of the cluster from a kubeconfig; tests replace it."""


class ReleaseGate(pulumi.ComponentResource):
    """Reads the status of every release from the cluster, once, and fails the deployment if one has failed.

    The gate acts within `apply`, because every deployment needs it, also a deployment that changes no resource: with
    `--refresh`, an upgrade that failed in the last deployment no longer shows as a difference (docs/delivery.md).
    """

    def __init__(self, name: str, args: ReleaseGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        after = pulumi.ResourceOptions(depends_on=args.after)
        super().__init__("physical-ai:kubernetes:ReleaseGate", name, {}, pulumi.ResourceOptions.merge(opts, after))
        if reads_the_cluster():
            pulumi.Output.all(args.kubeconfig, self.urn).apply(lambda known: self._check(args, known[0]))
        self.register_outputs({})

    def _check(self, args: ReleaseGateArgs, kubeconfig: str) -> None:
        try:
            problems = not_deployed((args.connect or connect)(kubeconfig), args.releases)
        except (Unreachable, Unusable) as problem:
            raise pulumi.RunError(f"Whether the Helm releases are deployed is unknown: {problem}") from None
        if not problems:
            return
        text = "\n".join(["Helm releases are not deployed.", *(f"  {each}" for each in problems), f"  {FIX}"])
        if mode() == "wait":
            raise pulumi.RunError(f"{text}\n{DELETES_NOTHING}")
        pulumi.log.warn(text, self)
