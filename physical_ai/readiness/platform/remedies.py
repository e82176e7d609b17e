"""Commands that restore an object of the platform. The command depends on the object's owner. Pure functions."""

from __future__ import annotations

import json

from physical_ai.catalog import osmo
from physical_ai.readiness.platform.absence import Absence
from physical_ai.readiness.platform.parts import Part


def remedy(found: Absence, stack: str) -> str:
    """Instruction to restore an object that is missing or does not work."""
    part = found.part
    kind, where = part.kind.lower(), f"kubectl -n {part.namespace}"
    match found.state:
        case "scaled-down" if part.kind == "CronJob":
            return f"""{where} patch cronjob {part.name} -p '{{"spec":{{"suspend":false}}}}'"""
        case "scaled-down":
            return f"{where} scale {kind} {part.name} --replicas={max(1, part.replicas)}"
        case "selects-none":
            key = found.evidence.removeprefix("nodeSelector: ").rpartition("=")[0]
            change = json.dumps({"spec": {"template": {"spec": {"nodeSelector": {key: None}}}}})
            return f"{where} patch daemonset {part.name} --type=merge -p '{change}'"
        case "unavailable":
            restart = f"{where} rollout restart {kind} {part.name} starts it again"
            return f"{restart}; physai why {part.namespace}/{part.name} {stack} shows why it does not run."
        case "not-installed":
            return f"pulumi up --refresh installs it; physai unstick {stack} repairs one whose last operation failed."
        case "missing" | "serves-none" | "unanswered":
            return _let_pass(part, stack) if found.state == "unanswered" else _made_again(part)


def _let_pass(part: Part, stack: str) -> str:
    what, file = f"{part.kind.lower()} {part.name}", f"{part.name}.yaml"
    maker = part.maker.partition(" ")[2]
    back = f"physai why {part.home}/{maker} {stack} shows why it does not run. Until then, these" if maker else "These"
    return (
        f"{back} requests pass unchecked after kubectl get {what} -o yaml > {file} and kubectl delete {what};"
        f" kubectl create -f {file} puts it back{'' if maker else ' when its Service answers'}."
    )


def _made_again(part: Part) -> str:
    if part.maker:
        agents = f"kubectl -n {osmo.OPERATOR_NAMESPACE} rollout restart deployment"
        if part.kind == "Queue":
            return f"{agents} has the agents connect again, which makes OSMO write its queues."
        return f"kubectl -n {part.namespace} rollout restart deployment {part.maker} has its operator make it again."
    if not part.release:
        return "pulumi up --refresh creates it again. Without --refresh, Pulumi believes that it exists."
    if part.release in osmo.NO_ROLLBACK or (part.kind == "Service" and not part.revision):
        return f"helm -n {part.home} get manifest {part.release} | kubectl apply -f - makes it again."
    if not part.revision:
        # The object belongs to a chart's hook, which only runs in an installation.
        return f"helm -n {part.home} uninstall {part.release}, then pulumi up --refresh: running Pods go on."
    again = f"helm -n {part.home} rollback {part.release} {part.revision} makes it again."
    return f"{again} pulumi up --refresh does not: it sees no change inside a release."
