"""Last step of a deployment: it succeeds once the GPUs are ready, or fails and names the closed gates."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulumi

from components.gates.gates import mode
from physical_ai.readiness import Expected, Get, Outcome, Unusable, read_reports, wait
from physical_ai.readiness.client import connect
from physical_ai.readiness.text import empty_pools, failure
from physical_ai.readiness.waiting import DELETES_NOTHING, bound_seconds


@dataclass(frozen=True)
class GpuGateArgs:
    """Inputs of `GpuGate`.

    `after` are the resources that GPUs depend on: the operator's release, its drivers and configurations.
    """

    kubeconfig: pulumi.Input[str]
    expected: Sequence[Expected]
    timeout_minutes: int
    """Minutes to wait. With 0 the gate reads the cluster once, and only warns."""
    after: Sequence[pulumi.Resource]
    settled: Sequence[pulumi.Input[str]] = ()
    """Outputs that become known when the node pools exist, or when their creation has failed.

    The pools themselves are not in `after`. A resource that depends on a failed resource makes the SDK end the whole
    program, so that the other pools would not be deployed either (pulumi 3.259, runtime/_depends_on.py).
    """
    connect: Callable[[str], Get] | None = None
    """Function that opens a reader of the cluster from a kubeconfig; tests replace it."""


class GpuGate(pulumi.ComponentResource):
    """Waits until the nodes of every pool offer their GPUs. Previews do not wait, and pools without nodes pass.

    When the time is up, the deployment fails with the closed gate of each node. Created resources remain, the stack's
    outputs are written, and the next deployment checks again. Where all GPUs are offered, and only a rollout is
    incomplete, the deployment ends with a warning instead.

    The gate waits within `apply`, because every deployment has to wait, also a deployment that changes no resource:
    the operations and hooks of a resource run only when the resource changes.

    Attributes:
        gpus: result by pool: `{state, nodes, driverSource, gpus, closed}`. Unknown in a preview.
    """

    gpus: pulumi.Output[dict[str, Any]]

    def __init__(self, name: str, args: GpuGateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        after = pulumi.ResourceOptions(depends_on=args.after)
        super().__init__("physical-ai:gpu:GpuGate", name, {}, pulumi.ResourceOptions.merge(opts, after))
        if pulumi.runtime.is_dry_run():
            unknown: Any = pulumi.UNKNOWN  # unknown in a preview, like everything that only a deployment finds out
            self.gpus = pulumi.Output.from_input(unknown)
        elif mode() == "skip":
            self.gpus = pulumi.Output.from_input({})
        else:
            # The gate's own URN is known once everything it depends on is created.
            minutes = args.timeout_minutes if mode() == "wait" else 0  # 0 where gates are only reported
            outcome = pulumi.Output.all(args.kubeconfig, self.urn, *args.settled).apply(
                lambda known: self._wait(args, known[0], minutes)
            )
            # With `--continue-on-error` the gate is skipped when what it depends on has failed: nothing was found then,
            # and the stack's other outputs are still written.
            self.gpus = outcome.apply(_documents).recover(_nothing_found)
            # The failure is not part of the output: a failed output would discard the stack's other outputs too.
            outcome.apply(partial(_fail_or_warn, minutes))
        self.register_outputs({})

    async def _wait(self, args: GpuGateArgs, kubeconfig: str, minutes: int) -> Outcome:
        bound = bound_seconds(minutes, os.environ)
        log = partial(pulumi.log.info, resource=self)
        get = (args.connect or connect)(kubeconfig)
        try:
            outcome = await wait(lambda: read_reports(get, args.expected), bound, log)
        except Unusable as problem:
            raise pulumi.RunError(f"Whether the GPUs are ready is unknown: {problem}") from None
        for line in empty_pools(outcome.reports):
            log(line)
        return outcome


def _nothing_found(problem: Exception) -> dict[str, Any]:
    del problem
    return {}


def _documents(outcome: Outcome) -> dict[str, Any]:
    return {report.pool: report.document() for report in outcome.reports}


def _fail_or_warn(timeout_minutes: int, outcome: Outcome) -> None:
    if outcome.is_failure(timeout_minutes):
        raise pulumi.RunError(f"{failure(outcome)}\n{DELETES_NOTHING}")
    if not outcome.is_open:
        pulumi.log.warn(failure(outcome))
