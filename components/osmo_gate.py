"""OSMO's coming and going, within a deployment: waits for what Helm doesn't, and sees workflows off."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pulumi

from physical_ai.catalog.osmo import FINALIZER, WORKFLOWS_NAMESPACE
from physical_ai.readiness import Get, Unreachable, Unusable, osmo
from physical_ai.readiness.client import Send, connect, connect_to_change
from physical_ai.readiness.waiting import bound_seconds, until_nothing

READY_MINUTES = 15
"""For KAI's operator to bring its scheduler up, on a node that the autoscaler may yet have to make."""
LEAVE_MINUTES = 10
"""For workflows' Pods to write a checkpoint, and for the agents to take the last of their logs."""


@dataclass(frozen=True)
class OsmoGateArgs:
    """`after` is what has to be installed, or to be settled, before the gate looks."""

    kubeconfig: pulumi.Input[str]
    backend: bool
    """Whether the stack has the agents. If not, and it had them before, their workflows are sent away."""
    after: Sequence[pulumi.Resource]
    connect: Callable[[str], Get] | None = None
    change: Callable[[str], Send] | None = None
    """How to reach the cluster of a kubeconfig; tests have other ones."""


class OsmoGate(pulumi.ComponentResource):
    """With agents: waits until scheduler and agents are available. Without: sees off those that are about to go.

    The engine deletes what a stack no longer has at the end of a deployment, after the program. So this is where
    workflows can still leave in order: their Pods carry a finalizer that only the agents take off.
    """

    def __init__(self, name: str, args: OsmoGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        after = pulumi.ResourceOptions(depends_on=args.after)
        super().__init__("physical-ai:osmo:OsmoGate", name, {}, pulumi.ResourceOptions.merge(opts, after))
        if not pulumi.runtime.is_dry_run():
            act = self._wait if args.backend else self._see_off
            pulumi.Output.all(args.kubeconfig, self.urn).apply(lambda known: act(args, known[0]))
        self.register_outputs({})

    async def _wait(self, args: OsmoGateArgs, kubeconfig: str) -> None:
        get = (args.connect or connect)(kubeconfig)
        left = await self._until(partial(osmo.waits_for, get), READY_MINUTES)
        if left:
            lines = "\n".join(f"  {line}" for line in left)
            raise pulumi.RunError(
                "OSMO's scheduler or agents are not up. What was made stays, and the next deployment looks again.\n"
                f"{lines}"
            )

    async def _see_off(self, args: OsmoGateArgs, kubeconfig: str) -> None:
        get, send = (args.connect or connect)(kubeconfig), (args.change or connect_to_change)(kubeconfig)
        try:
            pods = osmo.pods_left(get) if osmo.is_ours(get) else []
            if not pods:
                return
            pulumi.log.info(f"{len(pods)} Pods of workflows leave {WORKFLOWS_NAMESPACE} before the agents do", self)
            osmo.send_away(send)
        except (Unreachable, Unusable) as problem:
            raise pulumi.RunError(f"Whether workflows still run is not known: {problem}") from None
        left = await self._until(lambda: [f"waits for {pod}" for pod in osmo.pods_left(get)], LEAVE_MINUTES)
        if left:
            freed = osmo.let_go(send)
            pulumi.log.warn(
                f"The agents did not let {len(left)} Pods go; the finalizer {FINALIZER} was taken off "
                f"{', '.join(freed) or 'none of them'}. Their last logs may be missing.",
                self,
            )

    async def _until(self, look: Callable[[], list[str]], minutes: int) -> list[str]:
        tell = partial(pulumi.log.info, resource=self)
        try:
            return await until_nothing(look, bound_seconds(minutes, os.environ), tell)
        except (Unusable, ValueError) as problem:
            raise pulumi.RunError(str(problem)) from None
