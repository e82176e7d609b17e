"""Meaning of failed requests to Azure or to the cluster: which failures to retry, such as a role that is not in effect
yet or a busy cluster, and advice where the error message gives none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from physical_ai.citations import cited
from physical_ai.readiness.causes import azure_error_of

RETRY_SECONDS_VARIABLE = "PHYSICAL_AI_RETRY_SECONDS"
"""Environment variable with the first delay between attempts in seconds. Tests with a simulated Azure set shorter
delays.
"""

DEFAULT_SECONDS = 15.0
MAX_ATTEMPTS = 14
_LONGEST = 4
MAX_BUSY_ATTEMPTS = 60
"""Maximum number of attempts while Azure is busy with another operation. The attempts take about an hour, which is
enough for the upgrade of a few nodes.

The engine itself repeats an operation 100 times at most (pulumi/pkg 3.259, resource/deploy/retries.go).
"""

_ROLE_IS_PENDING = (
    "CustomKubeletIdentityMissingPermissionError",
    "CustomPrivateDNSZoneMissingPermissionError",
    "LinkedAuthorizationFailed",
    "InsufficientSubnetPermissions",
    "User does not have access to the resource in Azure",
    "is forbidden: User",
)
"""Parts of the messages of AKS, ARM and the API server's Azure authorizer while a role is missing or not in effect.

"is forbidden: User" is a refusal by Kubernetes' RBAC; other refusals, such as Pod Security's "is forbidden: violates",
are permanent.
"""

_BUSY = ("OperationNotAllowed", "AnotherOperationInProgress")
"""Codes with which AKS answers 409 while it upgrades, scales or reimages; the first one also stands for an exceeded
quota.

The azure-native provider itself repeats requests for AnotherOperationInProgress, and for no other code.
"""

_MAY_EXIST = (
    "error occurred:",
    "errors occurred:",
    "resource init failed",
    "failed to initialize completely",
    "partially created",
    "long-running operation",
    "long running operation",
)
"""Parts, in lower case, of the message of a failure after which the resource may nevertheless exist.

The engine reports a partial creation as a list, "1 error occurred:" (InitError, Go's multierror). The azure-native
provider does the same when the PUT was accepted and its long-running operation then failed. "failed to initialize
completely" is the message of a Helm release.
"""

_CODE = re.compile(r'\bCode="?([A-Z][A-Za-z0-9_.]{3,80})"?')
"""Expression for a code in a message of azure-native."""
_FAILED_RELEASE = "failed to initialize completely"
_NOT_READY = (
    "timed out waiting to be Ready",
    "timed out waiting for the condition",
    "Timeout occurred polling for",
)
"""Parts of the messages of pulumi-kubernetes (provider/pkg/await, 2026-07-01) when an object is not ready in time.

If the object is not ready because a Pod has no node, these messages do not say so.
"""
_FIELD_CONFLICT = "field conflict detected"


def may_exist(error: str) -> bool:
    """True where the resource may exist although its creation failed with `error`.

    Such a creation must not be retried. The provider would refuse it because the resource exists, and Pulumi would then
    drop the resource from its state, while the resource keeps running in Azure. Without a retry, the resource stays in
    the state, and the next `up` updates it.
    """
    return any(sign in error.lower() for sign in _MAY_EXIST)


def role_is_pending(error: str) -> bool:
    """True where `error`, a provider's message, can be explained by a role assignment that is not in effect yet."""
    return any(sign in error for sign in _ROLE_IS_PENDING)


def is_busy(error: str) -> bool:
    """True where Azure refused the request because another operation runs on the same resource."""
    return "in progress" in error and any(code in error for code in _BUSY)


def max_attempts(error: str) -> int:
    """Maximum number of attempts for an operation that has failed with `error`."""
    return MAX_BUSY_ATTEMPTS if is_busy(error) else MAX_ATTEMPTS


def retry_delay(errors: Sequence[str], attempt: int, base: float = DEFAULT_SECONDS) -> float | None:
    """Seconds to wait before a failed operation is tried again; None if it must not be tried again.

    An operation is tried again if the newest error is due to a role that is not in effect yet or to a busy cluster, and
    the failed request cannot have created anything. Attempts end after twelve minutes for a role (Azure's
    documentation: up to ten minutes until it is in effect), after an hour for a busy cluster. With the default `base`,
    the delays are 15, 30, then always 60 seconds.

    `errors`: messages of all failures, newest first. `attempt`: number of failures. `base`: first delay in seconds.

    >>> retry_delay(["LinkedAuthorizationFailed: no permission to join the subnet"], 1)
    15.0
    >>> retry_delay(["SkuNotAvailable: ..."], 1) is None
    True
    >>> retry_delay(["1 error occurred:\\n\\t* Code=\\"LinkedAuthorizationFailed\\" ..."], 1) is None
    True
    """
    if not errors or attempt >= max_attempts(errors[0]) or may_exist(errors[0]):
        return None
    if not role_is_pending(errors[0]) and not is_busy(errors[0]):
        return None
    return base * min(2 ** (attempt - 1), _LONGEST)


def base_seconds(environment: Mapping[str, str]) -> float:
    """First delay between attempts in seconds: the value of the environment variable PHYSICAL_AI_RETRY_SECONDS, or
    `DEFAULT_SECONDS` if the variable is not set.

    Raises:
        ValueError: the variable is not a number of at least 0.
    """
    text = environment.get(RETRY_SECONDS_VARIABLE)
    if text is None:
        return DEFAULT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{RETRY_SECONDS_VARIABLE} is {text!r}; write seconds, such as {DEFAULT_SECONDS:g}.")
    return seconds


def advice(error: str) -> str | None:
    """Advice for a failure whose own message is not sufficient; None for all other failures."""
    if role_is_pending(error) and may_exist(error):
        return "the resource exists, and failed during its setup. Run the command again: it updates the resource."
    if is_busy(error):
        return (
            "another operation on the cluster has not ended. `az aks show` and `az aks nodepool list` show which; "
            "run the command again when it has."
        )
    known = azure_error_of(error)
    text = (known.deployment if known is not None else None) or _cluster_advice(error)
    return cited(text) if text else None


def hint(error: str) -> str | None:
    """Advice to print below the error of a deployment: known advice or, for an Azure code without known advice, where
    to look up the code. None for an error with neither.
    """
    match = _CODE.search(error)
    return advice(error) or (where_to_look(match[1]) if match is not None else None)


def where_to_look(code: str) -> str:
    """Advice to look up an Azure error code that `azure_errors.yaml` does not contain."""
    pages = "https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors"
    aks = "https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/welcome-azure-kubernetes"
    return cited(f"The code {code} is not in physical_ai/readiness/data/azure_errors.yaml. Look it up: {pages}, {aks}.")


def _cluster_advice(error: str) -> str | None:
    if _FAILED_RELEASE in error:
        return (
            "the next `pulumi up` upgrades the release again. Do not refresh before: a refresh forgets the failure, "
            "and no run would repeat it. docs/runbooks/stuck-release.md describes both."
        )
    if any(sign in error for sign in _NOT_READY):
        return (
            "the plugin does not say what the Pods wait for. `physai doctor STACK --kubeconfig FILE` does, and "
            "`kubectl describe`. The next `pulumi up` waits again."
        )
    if _FIELD_CONFLICT in error:
        return (
            "somebody else owns the field. docs/troubleshooting.md, 'A preview fails with a field conflict', describes "
            "who, and what to do."
        )
    return None
