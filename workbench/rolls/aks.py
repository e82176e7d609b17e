"""Plan of an upgrade of Kubernetes or of node images, which AKS makes node by node: quota for extra nodes, Pods that no
disruption budget lets go, work that would end, and the next maintenance window. Pure functions.

AKS keeps to the windows of `cluster.upgrades` when it upgrades by its channels. A changed `kubernetesVersion` begins
with the deployment (Azure docs, planned-maintenance, fb060ab, 2026-08-21: the schedules are those of automatic
upgrades).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from physical_ai.catalog import vm_size
from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.pools import node_pools, sends_upgrade_settings, surge_nodes
from physical_ai.settings.models.cluster import Window
from physical_ai.settings.models.node_pools import NodePool
from physical_ai.subscription.answers import Usage
from workbench.impact import Work
from workbench.moves.emptying import owners

TOPIC = "node upgrade"
AZURE = "Azure"
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WEEKS = ("First", "Second", "Third", "Fourth")


def surges(settings: Settings, usages: Mapping[str, Usage] | None) -> Iterator[Finding]:
    """Findings about the extra nodes of each pool, compared with the free quota. `usages`: None without an answer."""
    known = None if usages is None else {name.lower(): each for name, each in usages.items()}
    for name, pool in node_pools(settings).items():
        extra, size = surge_nodes(pool), vm_size(pool.sku)
        if not extra:
            yield Finding(Severity.OK, TOPIC, name, _without_surge(pool), None, name)
            continue
        need = extra * size.vcpus
        text = f"an upgrade adds {extra} × {pool.sku} for a time, {need} vCPU of {size.family}"
        usage = None if known is None else known.get(size.family.lower())
        if known is None:
            fix = f"physai check {settings.stack} with a login"
            yield Finding(Severity.UNKNOWN, TOPIC, name, f"{text}: Azure was not queried.", fix, None)
        elif usage is None or usage.limit - usage.used < need:
            free = 0 if usage is None else usage.limit - usage.used
            fix = f'Set pools.{name}.upgrade: {{maxSurge: "0", maxUnavailable: "1"}}, or request the quota.'
            yield Finding(Severity.WARNING, TOPIC, name, f"{text}, and {free} are free: the upgrade fails.", fix, AZURE)
        else:
            yield Finding(Severity.OK, TOPIC, name, f"{text}; {usage.limit - usage.used} are free.", None, AZURE)


def _without_surge(pool: NodePool) -> str:
    if not sends_upgrade_settings(pool):
        return "a Spot pool: AKS upgrades its nodes without extra ones."
    return f"needs no extra node: {pool.upgrade.max_unavailable} of its nodes is away at a time."


def drains(settings: Settings, work: Sequence[Work], now: datetime.datetime) -> Iterator[Finding]:
    """Findings about the work on each pool: what a drain cannot evict, and what it ends."""
    for name, pool in node_pools(settings).items():
        here = [each for each in work if each.pool == name]
        minutes = pool.upgrade.drain_timeout_minutes
        for budget in dict.fromkeys(each.budget for each in here if each.budget):
            held = [each for each in here if each.budget == budget]
            problem = (
                f"budget {budget} lets no Pod go at present: {owners(held)}. AKS waits {minutes} minutes for the node,"
                " and then the upgrade fails (UpgradeFailed)."
            )
            fix = "Raise the replicas, or wait until all are ready; then look again right before the upgrade."
            yield Finding(Severity.WARNING, TOPIC, name, problem, fix, None)
        ended = [each for each in here if not each.budget and (each.gpus or not each.comes_back)]
        if ended:
            lost = sum(each.lost_hours(now)[1] for each in ended)
            problem = f"a drain ends {owners(ended)}: {lost:.2g} GPU-hours since start or last checkpoint."
            fix = f"Wait for its end, or physai move {settings.stack} {name} --to nodeImage=newest for a new image."
            yield Finding(Severity.WARNING, TOPIC, name, problem, fix, None)
        elif not any(each.budget for each in here):
            yield Finding(Severity.OK, TOPIC, name, "nothing runs there that a drain would end.", None, None)


def windows(settings: Settings, now: datetime.datetime) -> Iterator[Finding]:
    """Findings about the next times at which AKS may begin by itself."""
    upgrades = settings.cluster.upgrades
    for what, channel, window in (
        ("Kubernetes", upgrades.channel, upgrades.kubernetes_window),
        ("node images", upgrades.node_os_channel, upgrades.node_os_window),
    ):
        if channel.lower() == "none":
            yield Finding(Severity.OK, TOPIC, what, "AKS begins no upgrade by itself (channel none).", None, None)
            continue
        start = next_start(window, now)
        text = (
            f"AKS may begin by itself from {start:%a %Y-%m-%d %H:%M %z} for {window.duration_hours} hours ({channel})."
        )
        yield Finding(Severity.OK, TOPIC, what, text, None, None)
    begins = "A changed cluster.kubernetesVersion begins with the deployment, in a window or not."
    yield Finding(Severity.INFO, TOPIC, "Kubernetes", begins, None, None)


def next_start(window: Window, now: datetime.datetime) -> datetime.datetime:
    """Next beginning of a window; of a window that is open now, its beginning."""
    sign, hours, minutes = window.utc_offset[0], *map(int, window.utc_offset[1:].split(":"))
    offset = datetime.timedelta(hours=hours, minutes=minutes) * (-1 if sign == "-" else 1)
    here = now.astimezone(datetime.timezone(offset))
    length = datetime.timedelta(hours=window.duration_hours)
    for days in count(-1):
        day = (here + datetime.timedelta(days=days)).replace(hour=window.start_hour, minute=0, second=0, microsecond=0)
        if day + length > here and _has(window, day):
            return day
    raise AssertionError


def _has(window: Window, day: datetime.datetime) -> bool:
    if DAYS[day.weekday()] != window.day:
        return False
    if window.week is None:
        return True
    if window.week == "Last":
        return (day + datetime.timedelta(days=7)).month != day.month
    return WEEKS.index(window.week) == (day.day - 1) // 7
