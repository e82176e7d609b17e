"""The token of OSMO's agents, if the stack's own control plane creates the token: a Job that creates it, and a daily
check.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare_agent
from physical_ai.catalog.osmo import OPERATOR_NAMESPACE
from physical_ai.planning.osmo_token import IDENTITY_FILE, OBJECTS, OsmoTokenObjects


@dataclass(frozen=True)
class VaultLogin:
    """Login of the Job's Pods to the vault that holds the tokens of other stacks' agents.

    `ready` are resources that the Pods need first.
    """

    vault: pulumi.Input[str]
    tenant_id: pulumi.Input[str]
    client_id: pulumi.Input[str]
    ready: Sequence[pulumi.Resource]


@dataclass(frozen=True)
class OsmoTokenArgs:
    """Inputs of `OsmoToken`.

    `secret`: the agents' Secret, which the Job fills.
    `after`: resources that OSMO's service needs before it can answer.
    """

    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    objects: OsmoTokenObjects
    secret: kubernetes.core.v1.Secret
    after: Sequence[pulumi.Resource]
    protected: bool
    """True in a protected stack."""
    login: VaultLogin | None = None


class OsmoToken(pulumi.ComponentResource):
    """A Job that creates the agents' token and writes it to the Secret, and a CronJob that reports a token which
    expires soon or is refused.

    The engine waits until the Job has ended, so the token exists before any resource that depends on `job`. Each
    rotation of the token is a new Job.
    """

    job: kubernetes.batch.v1.Job

    def __init__(self, name: str, args: OsmoTokenArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:OsmoToken", name, {}, opts)
        objects, target = args.objects, args.target
        rights = declare_agent(
            name,
            self,
            target,
            objects,
            namespace=args.namespaces[objects.job["metadata"]["namespace"]],
            common=OBJECTS,
            also=[args.namespaces[OPERATOR_NAMESPACE]],
        )
        # Not protected: another rotation is a new Job, and a protected one could not be replaced.
        ready = args.login.ready if args.login is not None else ()
        options = target.options(self, [*rights, args.secret, *args.after, *ready])
        options.protect = False
        if args.protected:
            # A destroy that stops at the protected cluster would drop the Job from the state, and leave it there.
            options.deleted_with = None
        self.job = kubernetes.batch.v1.Job(
            f"{name}-job",
            metadata=objects.job["metadata"],
            spec=_with_login(objects.job["spec"], args.login),
            opts=options,
        )
        kubernetes.batch.v1.CronJob(
            f"{name}-check",
            metadata=objects.cron_job["metadata"],
            spec=_with_login(objects.cron_job["spec"], args.login),
            opts=target.options(self, [*rights, self.job]),
        )
        self.register_outputs({})


def _with_login(spec: Mapping[str, Any], login: VaultLogin | None) -> Any:
    """Returns `spec`, the spec of a Job or CronJob, with arguments for the vault login. The values of the arguments are
    known only during the deployment.
    """
    result: Any = copy.deepcopy(dict(spec))
    if login is not None:
        inner = result["jobTemplate"]["spec"] if "jobTemplate" in result else result
        (container,) = inner["template"]["spec"]["containers"]
        container["args"] += [
            pulumi.Output.concat("--vault=", login.vault),
            pulumi.Output.concat("--tenant=", login.tenant_id),
            pulumi.Output.concat("--client=", login.client_id),
            f"--identity-file={IDENTITY_FILE}",
        ]
    return result
