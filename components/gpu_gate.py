"""The end of a deployment: it is done when the GPUs are there, or it fails and says which gate is shut."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulumi

from physical_ai.readiness import Expected, Get, Outcome, Report, Unusable, look, wait
from physical_ai.readiness import text as telling
from physical_ai.readiness.client import connect
from physical_ai.readiness.waiting import bound_seconds


@dataclass(frozen=True)
class GpuGateArgs:
    """`after` is all that GPUs depend on: node pools, the operator's release, its drivers and configurations."""

    kubeconfig: pulumi.Input[str]
    expected: Sequence[Expected]
    timeout_minutes: int
    """0 looks once and warns."""
    after: Sequence[pulumi.Resource]
    connect: Callable[[str], Get] | None = None
    """How to read the cluster of a kubeconfig; tests have another one."""


class GpuGate(pulumi.ComponentResource):
    """Waits until the nodes of every pool offer their GPUs. Previews do not wait, and pools without nodes pass.

    When time is up the deployment fails with the gate of each node that is shut. What was made stays, the stack's
    outputs are written, and the next deployment looks again. Where all GPUs are offered, and only a rollout is not over
    yet, it ends with a warning instead.

    Attributes:
        gpus: what was found, by pool: `{state, nodes, driverSource, gpus, shut}`. Not known in a preview.
    """

    gpus: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, args: GpuGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        after = pulumi.ResourceOptions(depends_on=args.after)
        super().__init__("physical-ai:gpu:GpuGate", name, {}, pulumi.ResourceOptions.merge(opts, after))
        if pulumi.runtime.is_dry_run():
            unknown: Any = pulumi.UNKNOWN  # as everything that a deployment finds out
            self.gpus = pulumi.Output.from_input(unknown)
        else:
            # The gate's own URN is known once all it depends on is made.
            outcome = pulumi.Output.all(args.kubeconfig, self.urn).apply(lambda known: self._wait(args, known[0]))
            self.gpus = outcome.apply(_documents)
            # Apart from the output, which would take the stack's other outputs along when it fails.
            outcome.apply(partial(_judge, args.timeout_minutes))
        self.register_outputs({})

    async def _wait(self, args: GpuGateArgs, kubeconfig: str) -> Outcome:
        try:
            bound = bound_seconds(args.timeout_minutes, os.environ)
        except ValueError as problem:
            raise pulumi.RunError(str(problem)) from None
        tell = partial(pulumi.log.info, resource=self)
        get = (args.connect or connect)(kubeconfig)
        try:
            outcome = await wait(lambda: look(get, args.expected), bound, tell)
        except Unusable as problem:
            raise pulumi.RunError(f"Whether the GPUs are there is not known: {problem}") from None
        for line in telling.empty(outcome.reports):
            tell(line)
        return outcome


def failure(outcome: Outcome) -> str:
    """What a deployment says whose GPUs are not there."""
    if outcome.problem:
        return f"Whether the GPUs are there is not known: {outcome.problem}"
    waited = f"{outcome.seconds / 60:.0f} min" if outcome.seconds >= 90 else f"{outcome.seconds:.0f} s"
    head = f"GPUs are missing after {waited}. What was made stays, and the next deployment looks again."
    if outcome.is_only_rollout:
        head = f"All GPUs are offered, and a rollout is not over after {waited}. `physai gates` tells when it is."
    return "\n".join([head, *(f"  {line}" for line in telling.story(outcome.reports))])


def _documents(outcome: Outcome) -> dict[str, Any]:
    reports: Sequence[Report] = outcome.reports
    return {report.pool: report.document() for report in reports}


def _judge(timeout_minutes: int, outcome: Outcome) -> None:
    if outcome.is_open:
        return
    # A driver that waits for training to end may take a day, with the GPUs in use all the while.
    if timeout_minutes == 0 or outcome.is_only_rollout:
        pulumi.log.warn(failure(outcome))
        return
    raise pulumi.RunError(failure(outcome))
