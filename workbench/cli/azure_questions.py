"""Findings from Azure about what a stack declares: offers, limits, policies, pipelines, and ARM's verdict."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from physical_ai.findings import Finding, Severity
from physical_ai.repository import ROOT
from physical_ai.subscription.answers import Unanswered
from workbench.verdict.asking import Arm, NoAnswer
from workbench.verdict.findings import findings
from workbench.verdict.model import Judged, Plan
from workbench.verdict.offers import COUNT, OFFER, count_findings, offer_findings
from workbench.verdict.policies import TOPIC as POLICY
from workbench.verdict.policies import policy_findings

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
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
    from workbench.preflight import check

    needed, azure = needs_of(declared), reached.azure if reached is not None else None
    settings = requested.loaded.settings
    found = check(settings, azure, shutil.which, today, lambda own: foreign_to(needed, own))
    found += flow_findings(declared)
    if reached is not None:
        found += asked(requested, declared, reached, verdict=verdict)
    return found


def asked(requested: RequestedStack, declared: Declared, reached: Reached, *, verdict: bool) -> Iterator[Finding]:
    """Findings from Azure's answers to all questions about declared resources."""
    from workbench.cli.verdict_input import plan_of

    loaded = requested.loaded
    plan = plan_of(requested, declared, reached.subscription)
    judged: list[Judged] = []
    if verdict and reached.exchange is not None:
        judged = arm_of(reached).judge(plan)
    there = [each.resource_id for one in judged for each in one.changes if each.kind != "Create"]
    yield from _asked(OFFER, "all types", lambda: offer_findings(plan.subjects, reached.azure.type_offers()))
    for namespace in (NETWORK, AKS):
        yield from _asked(COUNT, namespace, lambda namespace=namespace: _counts(plan, reached, namespace, there))
    if reached.exchange is not None:
        yield from _asked(POLICY, "all types", lambda: policy_findings(plan.subjects, reached.azure.restrictions))
        yield from _asked("subject", "pipelines", lambda: _subjects(reached, loaded.settings.environment))
    if verdict and reached.exchange is not None:
        yield from findings(plan, judged, tuple(loaded.settings.pools), lambda path: origin(loaded, path))


def flow_findings(declared: Declared) -> Iterator[Finding]:
    """Findings about connections that are closed but must be open, or open but must be closed. Azure accepts the
    resources all the same.
    """
    from workbench.policies.flows.judging import judge, state_of

    for each in judge(declared):
        if not each.holds:
            where = f"{each.flow.source} → {each.way.target}"
            problem = f"Port {each.way.port} is {state_of(each)}, by {each.way.verdict.by}; {each.flow.why}"
            fix = each.flow.instead or "physai reach STACK FROM TO shows every step."
            yield Finding(Severity.ERROR, "reach", where, problem, fix, "the declared resources")


def arm_of(reached: Reached) -> Arm:
    """Client with the caller's login that asks ARM for its verdict."""
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
    """Files that set a setting, or settings below it, as text; empty for a default."""
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
    """Name of the GitHub repository that the checkout was cloned from, as owner/name; empty if it is not
    from GitHub.
    """
    text = _printed("git", "-C", str(ROOT), "remote", "get-url", "origin")
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
