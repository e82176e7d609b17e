"""Rules about the time that tasks have to write a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog.aks import SPOT_NOTICE_SECONDS
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, warning

_SPOT = Rule("checkpoint-spot", "Azure docs, virtual-machines/spot-vms; Azure/AKS#3528")
_DRAIN = Rule("checkpoint-drain", "AKS docs, upgrade-aks-cluster: drain timeout")


def check_checkpoints(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about the grace period of tasks."""
    for key, platform in settings.osmo.platforms.items():
        setting: Path = ("osmo", "platforms", key, "checkpointSeconds")
        pool, seconds = settings.pools.get(key), platform.checkpoint_seconds
        if pool is None or seconds is None or not trust(setting, ("pools", key)):
            continue
        if pool.is_spot and seconds > SPOT_NOTICE_SECONDS:
            problem = (
                f"Azure ends a Spot machine {SPOT_NOTICE_SECONDS} s after its notice, which is less than {seconds} s."
            )
            fix = "Let tasks copy checkpoints while they run (`checkpoint` in the workflow), or use priority: Regular."
            yield warning(setting, problem, fix, others=(("pools", key, "priority"),), rule=_SPOT)
        drain = pool.upgrade.drain_timeout_minutes * 60
        if not pool.is_spot and seconds >= drain:
            problem = f"An upgrade drains a node within {drain} s, and fails if a task takes {seconds} s to end."
            fix = f"Less than {drain}, or a longer upgrade.drainTimeoutMinutes of the pool."
            others: tuple[Path, ...] = (("pools", key, "upgrade", "drainTimeoutMinutes"),)
            yield warning(setting, problem, fix, others=others, rule=_DRAIN)
