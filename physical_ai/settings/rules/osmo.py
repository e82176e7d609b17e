"""Rules about OSMO: its control plane's address, login and time limits, platform names, and the size of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from physical_ai.catalog import nearest
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import osmo as osmo_facts
from physical_ai.settings.facts.data_services import PRODUCTION
from physical_ai.settings.facts.osmo_access import ACCESS, control_plane_url
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

_OSMO: Path = ("osmo",)
IN_CLUSTER = (".svc", ".svc.cluster.local")
"""Suffixes of the names of Services; requests to them stay inside the cluster."""
EXAMPLES = ("example.com", "example.net", "example.org", ".example", ".contoso.com")
"""Domains that examples use: those of RFC 2606, and Contoso's, which Microsoft's documentation uses."""
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST_QUIET = 7 * 86400
"""Longest time limit for running workflows, in seconds, that causes no warning. A hanging workflow blocks its GPUs
until the limit.
"""


def check_osmo(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about OSMO."""
    if not trust(_OSMO):
        return
    yield from _service(settings)
    yield from _timeouts(settings)
    if trust(("pools",)):
        yield from _platforms(settings)
        yield from _room(settings)
        yield from _quota(settings)


def _service(settings: Settings) -> Iterator[SettingFinding]:
    osmo, url = settings.osmo, control_plane_url(settings)
    setting: Path = (*_OSMO, "serviceUrl") if not osmo.installs_service else (*ACCESS, "host")
    if osmo.service_url is not None and not osmo.installs_backend:
        problem = "No agents would use this control plane."
        others: tuple[Path, ...] = ((*_OSMO, "mode"),)
        yield warning((*_OSMO, "serviceUrl"), problem, "mode: backend.", others=others)
    if url is not None and _is_example(url):
        problem = f"{url} is an example (RFC 2606, Contoso) without a server. It is sufficient for a simulation."
        fix = "The address of your control plane; null omits the agents until there is one."
        if osmo.installs_service:
            fix = "The DNS name of your control plane."
        yield warning(setting, problem, fix, stand_in=True)
    if url is not None and osmo.login == "token" and _is_plain(url):
        problem = f"{url} is not encrypted: the agents' token can be read in transit."
        fix = "access.tls." if osmo.installs_service else "An address that begins with https://."
        yield error(setting, problem, fix)
    if osmo.login == "dev":
        problem = (
            "With login dev the agents send a name and no secret: the control plane treats any caller as an admin."
        )
        severity = error if settings.environment == PRODUCTION else warning
        yield severity((*_OSMO, "login"), problem, "login: token, once the service has created one.")


def _is_plain(url: str) -> bool:
    """True where requests to the URL are unencrypted, and leave the cluster."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not (parts.hostname or "").endswith(IN_CLUSTER)


def _is_example(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(EXAMPLES)


def _timeouts(settings: Settings) -> Iterator[SettingFinding]:
    given = settings.osmo.timeouts
    for kind, default, most in (
        ("exec", given.exec_default, given.exec_max),
        ("queue", given.queue_default, given.queue_max),
    ):
        setting: Path = (*_OSMO, "timeouts", f"{kind}Default")
        top: Path = (*_OSMO, "timeouts", f"{kind}Max")
        if _seconds(default) > _seconds(most):
            problem = f"The default, {default}, is longer than the maximum, {most}."
            yield error(setting, problem, f"At most {most}.", others=(top,))
    if _seconds(given.exec_max) > LONGEST_QUIET:
        problem = f"A simulation that hangs would occupy its GPU for {given.exec_max}."
        yield warning((*_OSMO, "timeouts", "execMax"), problem, "At most 7d.")


def _seconds(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]


def _platforms(settings: Settings) -> Iterator[SettingFinding]:
    osmo = settings.osmo
    for key, platform in osmo.platforms.items():
        setting: Path = (*_OSMO, "platforms", key)
        if key not in settings.pools:
            near = nearest(key, settings.pools)
            fix = f"Did you mean '{near}'?" if near else f"Pools: {', '.join(settings.pools) or 'none'}."
            yield error(setting, f"There is no pool '{key}' for a platform.", fix)
        quota = platform.quota
        if (quota.guarantee, quota.maximum, quota.weight) != (-1, -1, 1) and osmo.queues == "shared":
            problem = "A quota belongs to a queue, and with queues: shared all platforms have one."
            yield error(
                (*setting, "quota"), problem, "queues: perPool.", others=((*_OSMO, "queues"),), rule=rules.QUEUES
            )
        if -1 < quota.maximum < quota.guarantee:
            problem = f"{quota.guarantee} GPUs are guaranteed, but no more than {quota.maximum} allowed."
            yield error((*setting, "quota", "maximum"), problem, f"At least {quota.guarantee}, or -1.")
        if platform.privileged or platform.host_network or platform.mounts:
            problem = "The workflows' namespace refuses such Pods: it enforces the Pod Security level baseline."
            yield warning(setting, problem, None, rule=rules.WORKFLOWS_BASELINE)
    if not all(gpu_facts.knows_gpu(pool) for pool in settings.pools.values()):
        return
    # The chart has a platform of its own, named default.
    seen: dict[str, str] = {osmo_facts.CPU_PLATFORM: "cpu", "default": "of OSMO's chart"}
    for facts in osmo_facts.gpu_platforms(settings):
        first = seen.setdefault(facts.name, facts.pool)
        if first != facts.pool:
            problem = f"The pools {first} and {facts.pool} would both be the platform '{facts.name}'."
            setting = (*_OSMO, "platforms", facts.pool, "name")
            yield error(
                setting, problem, "Give one of them another name.", others=((*_OSMO, "platforms", first, "name"),)
            )


def _quota(settings: Settings) -> Iterator[SettingFinding]:
    """Warning about a GPU quota of 0, with which nothing would start on GPU platforms."""
    quota = settings.osmo.gpu_quota
    if quota is not None and settings.pools and quota < 1:
        problem = "No Pod of a workflow may request a GPU, so nothing starts on the GPU platforms."
        yield warning((*_OSMO, "gpuQuota"), problem, "1 or more; null for four times what the pools have.")


def _room(settings: Settings) -> Iterator[SettingFinding]:
    """Warnings about pools whose nodes leave a task less than 1 CPU, 1 GiB of memory or 1 GiB of disk."""
    for key, pool in settings.pools.items():
        if not gpu_facts.knows_gpu(pool):
            continue
        facts = next((item for item in osmo_facts.gpu_platforms(settings) if item.pool == key), None)
        if facts is None:
            continue
        if facts.share.cpus < 1 or facts.share.memory_gib < 1 or facts.share.storage_gib < 1:
            problem = f"A node of {pool.sku} leaves less than 1 CPU, 1 GiB and 1 GiB of disk for each task on it."
            fix = "Fewer replicas, a larger size or a larger OS disk."
            yield warning(("pools", key, "sku"), problem, fix, others=(("pools", key, "sharing"),))
