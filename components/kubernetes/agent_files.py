"""ConfigMaps with the files of agents. They remain in the cluster when a stack no longer needs them, and are created
again when it needs them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.readiness.client import Send, connect_to_change
from physical_ai.readiness.reader import Missing, Unreachable, Unusable

EXISTS = "already exists"
"""Part of the API server's message about a name that is taken (apimachinery, NewAlreadyExists)."""
MAX_ATTEMPTS = 3
"""Number of creations that fail in a row before the deployment ends: something else creates the ConfigMap each time."""


def declare_files(
    name: str,
    parent: pulumi.Resource,
    target: ClusterTarget,
    config_map: Mapping[str, Any],
    after: Sequence[pulumi.Resource],
) -> pulumi.Resource:
    """Declares the immutable ConfigMap `config_map`, whose name has a digest of its data.

    A new version of the files is a new ConfigMap. The old one remains: Pods that are still of the old version mount it
    when their node restarts, and a rollout may take days. It is not protected, because it could not be replaced then.
    """
    options = target.options(parent, after)
    options.protect, options.retain_on_delete = False, True
    hook = pulumi.ErrorHook(f"{name}-files-again", _room_maker(target.kubeconfig))
    options.hooks = pulumi.ResourceHookBinding(on_error=[target.retry, hook])
    return kubernetes.core.v1.ConfigMap(
        f"{name}-files",
        metadata=config_map["metadata"],
        immutable=True,
        data=config_map["data"],
        opts=options,
    )


def _room_maker(kubeconfig: pulumi.Input[str]) -> Callable[[pulumi.ErrorHookArgs], Awaitable[bool]]:
    """Function for an error hook: it deletes the ConfigMap that an earlier deployment has left, so that the engine can
    create it.

    The provider refuses names that exist (pulumi-kubernetes 4.34, await.go, Creation). Its setting
    `upsertExistingObjects` would take over every object of any owner, and a second provider with that setting would
    replace the ConfigMaps of deployed stacks, also on the way back to an earlier version of this program.
    """

    async def make_room(args: pulumi.ErrorHookArgs) -> bool:
        taken = args.failed_operation == "create" and EXISTS in args.errors[0]
        if not taken or len(args.errors) > MAX_ATTEMPTS or pulumi.runtime.is_dry_run():
            return False
        wanted: Any = await pulumi.Output.from_input(args.new_inputs).future()
        text: Any = await pulumi.Output.from_input(kubeconfig).future()
        try:
            if problem := await asyncio.to_thread(_deleted, connect_to_change(text), wanted):
                pulumi.log.warn(f"{args.name}: {problem}")
                return False
        except (Missing, Unreachable, Unusable) as problem:
            pulumi.log.warn(f"{args.name}: the ConfigMap that exists can neither be compared nor deleted: {problem}")
            return False
        pulumi.log.info(f"{args.name}: an earlier deployment has left the same files, which are created again")
        return True

    return make_room


def _deleted(send: Send, wanted: Mapping[str, Any]) -> str:
    """Deletes the ConfigMap that has the name and the data of `wanted`; returns why it does not, or an empty text.

    Pods keep the files that they have mounted. A Pod that starts before the files exist again waits for them.
    """
    metadata = wanted["metadata"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/configmaps/{metadata['name']}"
    try:
        found = send("GET", path, {})
        if found.get("data") != wanted["data"]:
            return (
                f"ConfigMap {metadata['namespace']}/{metadata['name']} has other files: delete it, if nobody needs it"
            )
        same = {key: found["metadata"][key] for key in ("uid", "resourceVersion")}
        send("DELETE", path, {}, {"preconditions": same})
    except Missing:
        return ""
    return ""
