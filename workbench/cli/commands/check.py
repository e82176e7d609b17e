"""The `check` command: tells if Azure, or the existing cluster, would accept a stack."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from physical_ai.findings import Finding, Severity, any_at_least
from workbench.cli.azure_login import SUBSCRIPTION_VARIABLE, azure_of_login
from workbench.cli.console import doing, print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, Files, Json, Least, Stack

if TYPE_CHECKING:
    from physical_ai.settings import Loaded, Settings
    from workbench.cli.azure_login import Reached
    from workbench.cli.requested_stack import RequestedStack
    from workbench.policies import Stack as Declared


SubscriptionOption = Annotated[
    str | None,
    typer.Option("--subscription", metavar="ID", help=f"The subscription; ${SUBSCRIPTION_VARIABLE} if omitted."),
]
BudgetsOf = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="The stack's AKS cluster, whose disruption budgets are read too: some keep AKS from every upgrade.",
    ),
]
Verdict = Annotated[
    bool,
    typer.Option(
        "--verdict/--no-verdict",
        help="Have Azure Resource Manager validate all resources, and say what they change. Nothing is created.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask again what was answered and kept within a day.")]
Table = Annotated[bool, typer.Option("--questions", help="List what is asked, and the right that each question needs.")]
Offline = Annotated[bool, typer.Option("--offline", help="Do not query Azure or the cluster, even with a login.")]

Prerequisites = Annotated[
    bool, typer.Option("--prerequisites", help="List what a first deployment needs, and what not. Queries nothing.")
]


def check(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    subscription: SubscriptionOption = None,
    offline: Offline = False,
    prerequisites: Prerequisites = False,
    verdict: Verdict = True,
    fresh: Fresh = False,
    questions: Table = False,
    severity: Least = Severity.ERROR,
    kubeconfig: BudgetsOf = None,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Check in advance what Azure would reject in a stack: quota, sizes, versions, registrations, your permissions.

    Without a login it reports what is known offline, and what Azure would have to answer. For a stack on an
    existing cluster, it reads that cluster instead: software, storage, machines, and other owners of its GPUs.
    """
    from physical_ai.catalog.plugins import recorded
    from physical_ai.settings.facts.created import region_of
    from workbench.cli.deployment_prerequisites import list_prerequisites
    from workbench.cli.existing_check import check_existing
    from workbench.cli.output import check as output
    from workbench.cli.requested_stack import read_stack
    from workbench.preflight.backends import claims
    from workbench.preflight.charts import unverified
    from workbench.preflight.plugins import unrecorded

    if questions:
        output.print_questions(json=json)
        return
    requested = read_stack(stack, file, set_)
    loaded = requested.loaded
    settings = loaded.settings
    if prerequisites:
        list_prerequisites(stack, requested, json=json)
        return
    today = datetime.datetime.now(datetime.UTC).date()
    existing, reached, declared = check_existing(loaded, today, offline=offline), None, None
    if existing is not None:
        findings, why_not = existing
        asked = "The cluster"
    else:
        with doing("asking Azure" if not offline else f"reading what the program declares for {stack}"):
            reached, why_not = (None, "--offline") if offline else azure_of_login(subscription, fresh=fresh)
            findings, declared = _of_azure(requested, reached, today, verdict=verdict)
            findings = [*findings, *_budgets(settings, kubeconfig), *_node_upgrades(loaded, kubeconfig, reached)]
        asked = "Azure"
    findings = [*findings, *_time_to_first_gpu(requested, declared)]
    checksums = [*unverified(loaded.plan.charts), *unrecorded(recorded())]
    findings = [*findings, *checksums, *claims(settings, _others(stack))]
    oldest = reached.kept.oldest if reached is not None else None
    if json:
        queried = reached is not None
        print_json(
            output.document(stack, region_of(settings), findings, queried=queried, why_not=why_not, oldest=oldest)
        )
    else:
        output.print_findings(stack, findings, why_not, asked)
        output.print_age(oldest)
    if any_at_least(findings, severity):
        raise typer.Exit(FINDINGS)


def _of_azure(
    requested: RequestedStack, reached: Reached | None, today: datetime.date, *, verdict: bool
) -> tuple[list[Finding], Declared | None]:
    """Findings about a stack that creates its cluster on Azure: about its settings, and about its declared resources;
    and these resources, None if the program refuses the settings.
    """
    import pulumi

    from workbench.cli.azure_questions import everything
    from workbench.cli.policy_pack import declared_resources
    from workbench.preflight import check as check_azure

    settings, azure = requested.loaded.settings, reached.azure if reached is not None else None
    try:
        declared = declared_resources(
            requested, preview=False, subscription=reached.subscription if reached is not None else None
        )
    except pulumi.RunError as refusal:
        found = check_azure(settings, azure, shutil.which, today)
        failed = Finding(Severity.ERROR, "program", "declared resources", str(refusal), None, "the program")
        return [*found, failed], None
    return everything(requested, declared, reached, today, verdict=verdict), declared


def _time_to_first_gpu(requested: RequestedStack, declared: Declared | None) -> list[Finding]:
    """Findings about the budget for the time to the first GPU; none without a budget, or if the program refuses the
    settings, which is reported already. `declared`: the declared resources, None if they were not read.
    """
    import pulumi

    from workbench.cli.first_gpu import first_gpu
    from workbench.cli.policy_pack import declared_resources
    from workbench.first_gpu.judging import findings

    settings = requested.loaded.settings
    if not settings.time_to_first_gpu.is_set:
        return []
    try:
        declared = declared or declared_resources(requested, preview=False)
        return findings(first_gpu(settings, declared), settings.time_to_first_gpu)
    except pulumi.RunError:
        return []


def _budgets(settings: Settings, kubeconfig: Path | None) -> Iterator[Finding]:
    """Findings about PodDisruptionBudgets that block upgrades. The budgets are those in the cluster of the kubeconfig
    or, without a kubeconfig, those that follow from the settings.
    """
    from physical_ai.readiness import Unreachable, Unusable
    from physical_ai.readiness.upgrade_budgets import blocking
    from workbench.cli.cluster_gates import real_cluster
    from workbench.preflight import upgrade_budgets

    if kubeconfig is None:
        yield from upgrade_budgets.declared(settings)
        return
    try:
        yield from upgrade_budgets.present(blocking(real_cluster(kubeconfig, settings).get), str(kubeconfig))
    except (Unreachable, Unusable) as problem:
        text = f"The cluster's disruption budgets cannot be read: {problem}"
        yield Finding(Severity.UNKNOWN, upgrade_budgets.TOPIC, "disruption budgets", text, None, str(kubeconfig))


def _node_upgrades(loaded: Loaded, kubeconfig: Path | None, reached: Reached | None) -> Iterator[Finding]:
    """Findings about an upgrade of Kubernetes or node images of a cluster: quota, Pods, windows. None without a
    kubeconfig, or if the cluster cannot be read, which is reported already.
    """
    from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
    from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
    from physical_ai.planning import namespaces
    from physical_ai.readiness import Unreachable, Unusable
    from workbench.cli.cluster_gates import real_cluster
    from workbench.impact import read_situation
    from workbench.preflight import Unanswered
    from workbench.rolls.aks import drains, surges, windows

    if kubeconfig is None:
        return
    settings, now = loaded.settings, datetime.datetime.now(datetime.UTC)
    platform = {*SYSTEM_NAMESPACES, *namespaces.created(settings, loaded.plan)} - {WORKFLOWS_NAMESPACE}
    try:
        usages = reached.azure.usages(settings.region) if reached is not None else None
    except Unanswered:
        usages = None
    yield from surges(settings, usages)
    yield from windows(settings, now)
    try:
        yield from drains(settings, read_situation(real_cluster(kubeconfig, settings).get, platform).work, now)
    except (Unreachable, Unusable):
        return


def _others(stack: str) -> Iterator[Settings]:
    """Settings of the other stacks of the checkout. Stacks that cannot be loaded are left out, since they deploy
    nothing.
    """
    from physical_ai.settings import SettingsError, existing, load

    for name in existing():
        if name != stack:
            try:
                yield load(name).settings
            except SettingsError:
                continue
