"""Last step of a deployment with OSMO. In a stack with agents or a control plane, the step waits until their
Deployments are available; Helm does not wait for these Deployments. In a stack without agents, the step deletes
remaining workflows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import pulumi

from components.gates.gates import mode, reads_the_cluster
from physical_ai.catalog.osmo import FINALIZER, WORKFLOWS_NAMESPACE
from physical_ai.readiness import Get, Unreachable, Unusable, osmo
from physical_ai.readiness.client import Send, connect, connect_to_change
from physical_ai.readiness.waiting import DELETES_NOTHING, bound_seconds, wait_until_empty

READY_MINUTES = 15
"""Minutes that the gate waits for OSMO's software, for which the autoscaler may first have to add a node."""
DELETION_MINUTES = 10
"""Minutes that the gate waits for deleted workflows: Pods write a checkpoint, and agents collect their last logs."""


@dataclass(frozen=True)
class OsmoGateArgs:
    """Inputs of `OsmoGate`. `after` are the resources that have to be installed before the gate reads the cluster."""

    kubeconfig: pulumi.Input[str]
    backend: bool
    """True where the stack has OSMO's agents. If False, the gate deletes workflows that are still in the cluster."""
    service: bool
    """True where the stack has OSMO's control plane."""
    after: Sequence[pulumi.Resource]
    connect: Callable[[str], Get] | None = None
    change: Callable[[str], Send] | None = None
    """Function that opens a writer to the cluster from a kubeconfig; tests replace it."""


class OsmoGate(pulumi.ComponentResource):
    """Waits until the parts of OSMO that the stack has are available: the scheduler, the agents and the control plane.
    The deployment fails when the time is up. In a stack with neither agents nor a control plane, there is nothing to
    wait for.

    In a stack without agents, the gate first deletes the workflows that are still in the cluster. A workflow's Pods
    have a finalizer, which only running agents remove. The engine deletes the agents of the previous deployment only
    after the program has ended, so these agents still run while the gate deletes the workflows.

    The gate acts within `apply`, because it has to act in every deployment, also in a deployment that changes no
    resource.
    """

    def __init__(self, name: str, args: OsmoGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        after = pulumi.ResourceOptions(depends_on=args.after)
        super().__init__("physical-ai:osmo:OsmoGate", name, {}, pulumi.ResourceOptions.merge(opts, after))
        if reads_the_cluster():
            pulumi.Output.all(args.kubeconfig, self.urn).apply(lambda known: self._act(args, known[0]))
        self.register_outputs({})

    async def _act(self, args: OsmoGateArgs, kubeconfig: str) -> None:
        if not args.backend:
            await self._delete_workflows(args, kubeconfig)
        if args.backend or args.service:
            await self._wait(args, kubeconfig)

    async def _wait(self, args: OsmoGateArgs, kubeconfig: str) -> None:
        get = (args.connect or connect)(kubeconfig)
        waits = mode() == "wait"
        read = partial(osmo.not_ready, get, agents=args.backend, service=args.service)
        left = await self._until_empty(read, READY_MINUTES if waits else 0)
        if not left:
            self._report_token(get)
            return
        lines = "\n".join(f"  {line}" for line in left)
        parts = ("scheduler", *(["agents"] if args.backend else []), *(["control plane"] if args.service else []))
        text = f"OSMO's {' or '.join(parts)} are not available. Created resources remain, and the next deployment"
        text += f" checks again.\n{lines}"
        if waits:
            raise pulumi.RunError(f"{text}\n{DELETES_NOTHING}")
        pulumi.log.warn(text, self)

    def _report_token(self, get: Get) -> None:
        """Warns if the token with which OSMO's agents log in is invalid or expires soon. All workflows wait from the
        moment when the token expires until the next deployment renews it.
        """
        try:
            problem = osmo.token_problem(get, datetime.now(UTC).date())
        except (Unreachable, Unusable):
            return  # the scheduler and the agents are available, and the daily check reports the token too
        if problem:
            pulumi.log.warn(problem, self)

    async def _delete_workflows(self, args: OsmoGateArgs, kubeconfig: str) -> None:
        get, send = (args.connect or connect)(kubeconfig), (args.change or connect_to_change)(kubeconfig)
        try:
            pods = osmo.workflow_pods(get) if osmo.is_managed(get) else []
            if not pods:
                return
            pulumi.log.info(f"Deleting {len(pods)} Pods of workflows in {WORKFLOWS_NAMESPACE} before the agents", self)
            osmo.delete_workflows(send)
        except (Unreachable, Unusable) as problem:
            raise pulumi.RunError(f"Whether workflows still run is unknown: {problem}") from None
        left = await self._until_empty(
            lambda: [f"waiting for {pod}" for pod in osmo.workflow_pods(get)], DELETION_MINUTES
        )
        if left:
            released = osmo.remove_finalizers(send)
            pulumi.log.warn(
                f"The agents did not release {len(left)} Pods; the finalizer {FINALIZER} was removed from "
                f"{', '.join(released) or 'none of them'}. Their last logs may be missing.",
                self,
            )

    async def _until_empty(self, read: Callable[[], list[str]], minutes: int) -> list[str]:
        log = partial(pulumi.log.info, resource=self)
        try:
            return await wait_until_empty(read, bound_seconds(minutes, os.environ), log)
        except Unusable as problem:
            raise pulumi.RunError(str(problem)) from None
