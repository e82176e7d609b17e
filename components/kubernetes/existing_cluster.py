"""A cluster that exists already: access to it, and the labels and taints that the stack gives to its nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import pulumi
import pulumi_kubernetes as kubernetes

from physical_ai.planning.plan import Plan
from physical_ai.readiness import Get, Unusable
from physical_ai.readiness.client import connect
from physical_ai.readiness.existing import PATCH_ANNOTATIONS, NodeChange, Survey, survey
from physical_ai.readiness.existing_owners import judge
from physical_ai.readiness.existing_record import CLUSTER, MARK, wrong_cluster
from physical_ai.readiness.kubeconfig_context import explained, kubeconfig_file, read_context
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings import Settings


@dataclass(frozen=True)
class ExistingClusterArgs:
    """Inputs of `ExistingCluster`. `kubeconfig`: path of the kubeconfig file; if None, the file in the environment
    variable KUBECONFIG or, without this variable, kubectl's default file.
    """

    settings: Settings
    plan: Plan
    context: str
    kubeconfig: str | None


class ExistingCluster(pulumi.ComponentResource):
    """The provider for a cluster that the stack has not created, and the labels and taints that the stack gives to its
    nodes.

    The component reads the cluster while the program runs, in previews too. So a preview shows every node that changes,
    and a conflict with objects of other owners fails the run before anything is changed.

    Attributes:
        kubeconfig: kubeconfig text with the user's login, for the gates; it is no output of the stack.
        changed: resources that set the labels and taints of nodes. Workloads for these nodes are created after them.
        mark: random text that identifies this stack, even among stacks of the same name in other state backends.
        found: software and nodes of the cluster.
        classes: the nodes that the stack changes, each with the labels and taints that it gets.
    """

    kubeconfig: pulumi.Output[str]
    provider: kubernetes.Provider
    changed: list[pulumi.Resource]
    mark: pulumi.Output[str]
    found: Survey
    classes: Sequence[NodeChange]

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:ExistingCluster", name, {}, opts)
        file = kubeconfig_file(args.kubeconfig, os.environ)
        text, found = open_cluster(args.settings, file, args.context)
        verdict = judge(args.settings, args.plan, found)
        if verdict.problems:
            listed = "\n".join(f"  {problem}" for problem in verdict.problems)
            raise pulumi.RunError(f"The cluster of the context {args.context} cannot take this stack:\n{listed}")
        for note in verdict.notes:
            pulumi.log.info(note, self)
        self.kubeconfig, self.found = pulumi.Output.secret(text), found
        record = pulumi.Stash(
            f"{name}-record",
            # A preview creates no mark: each preview would otherwise show a different one.
            input={CLUSTER: found.id, MARK: "" if pulumi.runtime.is_dry_run() else token_hex(8)},
            # The state keeps the input of the first deployment.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["input"]),
        )
        stack, context, path = args.settings.stack, args.context, str(Path(file).expanduser())

        def checked(kept: Mapping[str, str]) -> str:
            if problem := wrong_cluster(stack, context, kept, found):
                raise pulumi.RunError(problem)
            return path

        self.mark = record.output.apply(lambda kept: kept[MARK])
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            # The path of the file is the input, not its text with credentials: inputs of a provider are in the state.
            # All objects need the provider, so that nothing is declared in a cluster that is not the stack's.
            kubeconfig=record.output.apply(checked),
            context=args.context,
            # Without an identifier, another cluster of the same name would get only the changed objects.
            cluster_identifier=found.id,
            enable_server_side_apply=True,
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.classes = verdict.changes
        self.changed = [self._patch(name, change) for change in verdict.changes]
        self.register_outputs({"nodes": len(verdict.changes)})

    def _patch(self, name: str, change: NodeChange) -> kubernetes.core.v1.NodePatch:
        """Declares the patch that sets a node's labels and taints. The patch has a field manager of its own, so that
        its deletion removes these labels and taints and no others.
        """
        taints = [
            kubernetes.core.v1.TaintPatchArgs(
                key=each["key"], value=each.get("value"), effect=each["effect"], time_added=each.get("timeAdded")
            )
            for each in change.listed
        ]
        return kubernetes.core.v1.NodePatch(
            f"{name}-node-{change.node}",
            metadata={
                "name": change.node,
                "labels": dict(change.labels),
                "annotations": dict(PATCH_ANNOTATIONS),
            },
            spec=kubernetes.core.v1.NodeSpecPatchArgs(taints=taints) if change.taints else None,
            opts=pulumi.ResourceOptions(parent=self, provider=self.provider),
        )


def open_cluster(settings: Settings, file: str, context: str) -> tuple[str, Survey]:
    """Kubeconfig text of `context` in `file`, and the software and nodes of the cluster.

    `settings` are not used here; a simulation replaces this function with one that uses them.

    Raises pulumi.RunError where the kubeconfig or the cluster cannot be read.
    """
    del settings
    try:
        text = read_context(file, context)
    except Unusable as problem:
        raise pulumi.RunError(str(problem)) from None
    return text, read_cluster(file, context, text)


def read_cluster(file: str, context: str, kubeconfig: str, reader: Callable[[str], Get] | None = None) -> Survey:
    """Software and nodes of the cluster.

    Raises pulumi.RunError where the cluster does not answer or refuses the login.
    """
    try:
        return survey((reader or connect)(kubeconfig))
    except (Unusable, Unreachable, Missing) as problem:
        raise pulumi.RunError(explained(file, context, kubeconfig, problem)) from None
