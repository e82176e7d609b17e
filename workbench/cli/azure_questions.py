"""Findings from Azure about what a stack declares: offers, limits, policies, pipelines, and ARM's verdict."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from physical_ai.findings import Finding, Severity
from physical_ai.repository import PROJECT
from physical_ai.subscription.answers import Unanswered
from workbench.preflight.locks import TOPIC as LOCK
from workbench.preflight.locks import lock_findings
from workbench.preflight.rights import Wanted, rights_findings
from workbench.verdict import bodies
from workbench.verdict.asking import Arm, NoAnswer
from workbench.verdict.findings import findings
from workbench.verdict.model import Judged, Plan, Subject
from workbench.verdict.offers import COUNT, OFFER, count_findings, offer_findings
from workbench.verdict.policies import TOPIC as POLICY
from workbench.verdict.policies import policy_findings
from workbench.verdict.skus import CACHE, OF, STORAGE, sku_findings
from workbench.verdict.skus import TOPIC as SKU

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.subscription.rest import AzureRest
    from workbench.cli.azure_login import Reached
    from workbench.cli.requested_stack import RequestedStack
    from workbench.policies import Stack as Declared

NETWORK, AKS = "Microsoft.Network", "Microsoft.ContainerService"
GH_SECONDS = 30


def everything(
    requested: RequestedStack, declared: Declared, reached: Reached | None, today: datetime.date, *, verdict: bool
) -> list[Finding]:
    """All findings about a stack that creates its cluster on Azure: about its settings, and about its declared
    resources.
    """
    from workbench.cli.declared_needs import foreign_to, needs_of
    from workbench.cli.verdict_input import plan_of
    from workbench.preflight import check

    needed, settings = needs_of(declared), requested.loaded.settings
    if reached is None:
        found = check(settings, None, shutil.which, today, lambda own: foreign_to(needed, own))
        return [*found, *flow_findings(declared)]
    plan = plan_of(requested, declared, reached.subscription)
    wanted = wanted_rights(plan, reached.subscription)
    found = check(
        settings,
        reached.azure,
        shutil.which,
        today,
        lambda own: foreign_to(needed, own),
        rights=lambda azure: rights_findings(wanted, azure.permissions),
    )
    found += flow_findings(declared)
    found += asked(requested, plan, reached, verdict=verdict)
    return found


def wanted_rights(plan: Plan, subscription: str) -> list[Wanted]:
    """Planned resources that the caller must have the right to create in a subscription. For a role assignment, also
    the role that it assigns.
    """
    return [
        Wanted(each.type, each.name, each.resource_id, _role(each))
        for each in plan.subjects
        if bodies.subscription_of(each.resource_id).lower() == subscription.lower()
    ]


def _role(subject: Subject) -> str:
    properties: Any = subject.body.get("properties") or {}
    return str(properties.get("roleDefinitionId") or "").rpartition("/")[2].rstrip("')]")


def asked(requested: RequestedStack, plan: Plan, reached: Reached, *, verdict: bool) -> Iterator[Finding]:
    """Findings about the declared resources from Azure's answers: offers, limits, locks, policies and, with `verdict`,
    ARM's verdict.
    """
    loaded, azure = requested.loaded, reached.azure
    judged: list[Judged] = []
    if verdict and reached.exchange is not None:
        judged = arm_of(reached).judge(plan)
    there = [each.resource_id for one in judged for each in one.changes if each.kind != "Create"]
    yield from _asked(OFFER, "all types", lambda: offer_findings(plan.subjects, reached.azure.type_offers()))
    types = {each.arm_type for each in plan.subjects}
    for namespace in (NETWORK, AKS, *([STORAGE] if f"{STORAGE}/storageAccounts" in types else [])):
        yield from _asked(COUNT, namespace, lambda namespace=namespace: _counts(plan, reached, namespace, there))
    for namespace in (STORAGE, CACHE):
        of = [each for each in plan.subjects if each.arm_type in OF and each.arm_type.startswith(f"{namespace}/")]
        if of:
            yield from _asked(SKU, namespace, partial(_skus, of, azure, namespace))
    yield from _asked(LOCK, "subscription", lambda: lock_findings(azure.locks(), _groups(plan), reached.subscription))
    if reached.exchange is not None:
        yield from _asked(POLICY, "all types", lambda: policy_findings(plan.subjects, reached.azure.restrictions))
        yield from _asked("subject", "pipelines", lambda: _subjects(reached, loaded.settings.environment))
    if verdict and reached.exchange is not None:
        yield from findings(plan, judged, tuple(loaded.settings.pools), lambda path: origin(loaded, path))


def _skus(of: Sequence[Subject], azure: AzureRest, namespace: str) -> Iterator[Finding]:
    yield from sku_findings(of, azure.skus(namespace))


def _groups(plan: Plan) -> dict[str, str]:
    """Ids of the planned resource groups, by name."""
    groups = [each.resource_id for each in plan.subjects if each.arm_type == "Microsoft.Resources/resourceGroups"]
    return {each.rpartition("/")[2]: each for each in groups}


def flow_findings(declared: Declared) -> Iterator[Finding]:
    """Findings about connections that are closed but must be open, or open but must be closed. Azure does not check
    connections, so it accepts the resources.
    """
    from workbench.policies.flows.judging import judge, state_of

    for each in judge(declared):
        if not each.holds:
            where = f"{each.flow.source} → {each.way.target}"
            problem = f"Port {each.way.port} is {state_of(each)}, by {each.way.verdict.by}; {each.flow.why}"
            fix = each.flow.instead or "physai reach STACK FROM TO shows every step."
            yield Finding(Severity.ERROR, "reach", where, problem, fix, "the declared resources")


def arm_of(reached: Reached) -> Arm:
    """Client for Azure Resource Manager with the caller's login, to ask if it would accept the declared resources."""
    exchange = reached.exchange
    assert exchange is not None

    def answered(
        method: str, path: str, parameters: Mapping[str, str], body: Any
    ) -> tuple[int, Any, Mapping[str, str]]:
        try:
            return exchange(method, path, parameters, body)
        except Unanswered as problem:
            raise NoAnswer(str(problem)) from None

    return Arm(answered, reached.subscription)


def origin(loaded: Loaded, path: str) -> str:
    """Names of the files that set the setting `path` or a setting below it, joined with commas. Empty if no file sets
    any of these settings; their defaults then apply.
    """
    from physical_ai.settings import SettingsError

    try:
        rows = loaded.explain(path)
    except SettingsError:
        return ""
    files = dict.fromkeys(row.origin for row in rows if row.origin.endswith(".yaml") or "(" in row.origin)
    return ", ".join(files)


def _asked(topic: str, subject: str, question: Callable[[], Iterable[Finding]]) -> Sequence[Finding]:
    try:
        return list(question())
    except Unanswered as problem:
        return [Finding(Severity.UNKNOWN, topic, subject, f"Azure did not answer: {problem}.", None, "Azure")]


def _counts(plan: Plan, reached: Reached, namespace: str, there: Sequence[str]) -> Iterator[Finding]:
    subjects = [each for each in plan.subjects if each.arm_type.startswith(f"{namespace}/")]
    region = next((deployment.location for deployment in plan.deployments), "")
    yield from count_findings(subjects, reached.azure.counts(namespace, region), region, there)


def _subjects(reached: Reached, environment: str) -> Iterator[Finding]:
    from workbench.cli.bootstrap_names import GROUP
    from workbench.preflight.federation import subject_findings

    repository = repository_of_checkout()
    if repository and (credentials := reached.azure.credentials(GROUP)):
        yield from subject_findings(repository, subject_prefix(repository), environment, credentials)


def repository_of_checkout() -> str:
    """Name of the GitHub repository that the project was cloned from, as owner/name; empty if it is not
    from GitHub.
    """
    text = _printed("git", "-C", str(PROJECT), "remote", "get-url", "origin")
    found = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", text.strip())
    return found[1] if found is not None else ""


def subject_prefix(repository: str) -> str | None:
    """Beginning of the OIDC subjects that GitHub sends for a repository; None if GitHub cannot be asked."""
    text = _printed("gh", "api", f"repos/{repository}/actions/oidc/customization/sub")
    try:
        prefix: Any = json.loads(text).get("sub_claim_prefix") if text else None
    except (ValueError, AttributeError):
        return None
    if isinstance(prefix, str) and prefix:
        return prefix.removesuffix(":")
    return f"repo:{repository}" if text else None


def _printed(*command: str) -> str:
    """Standard output of a command; empty if the command fails, is missing, or takes too long."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GH_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
