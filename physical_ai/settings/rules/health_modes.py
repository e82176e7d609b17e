"""Rules about health modes: a mode beyond `alert` needs collected metrics, and pools on which it can act."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.settings.facts.health import least_nodes, passthrough_pools, reaches
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

_HERE: Path = ("health",)
_MODE: Path = (*_HERE, "mode")
_STORE: Path = (*_HERE, "datastoreSecret")


def check_health_mode(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about health modes."""
    if not trust(_HERE):
        return
    yield from _datastore(settings)
    if reaches(settings, "detect"):
        if trust(("monitoring", "metrics")):
            yield from _measured(settings)
        if trust(("pools",)):
            yield from _pools(settings)


def _datastore(settings: Settings) -> Iterator[SettingFinding]:
    health = settings.health
    if reaches(settings, "taint") and health.datastore_secret is None:
        problem = (
            f"In mode {health.mode}, NVSentinel's modules exchange events through a MongoDB, and the stack has none."
        )
        fix = "datastoreSecret: NAME of the stack secret with its connection string, or mode: detect."
        yield error(_STORE, problem, fix, others=(_MODE,), rule=rules.HEALTH_STORE)
    if not reaches(settings, "taint") and health.datastore_secret is not None:
        problem = f"Mode {health.mode} keeps no events, so that this has no effect."
        yield warning(_STORE, problem, "mode: taint or mode: drain, or leave it out.", others=(_MODE,))


def _measured(settings: Settings) -> Iterator[SettingFinding]:
    if settings.monitoring.is_measured:
        return
    mode, others = settings.health.mode, (("monitoring", "metrics"),)
    fix = "monitoring.metrics: azure or kube-prometheus, or mode: alert."
    if reaches(settings, "taint"):
        problem = f"In mode {mode}, nodes leave service automatically, and without metrics no alert reports it."
        yield error(_MODE, problem, fix, others=others, rule=rules.HEALTH_ALONE)
    else:
        problem = f"In mode {mode}, faults become conditions of nodes, and without metrics no alert reports them."
        yield warning(_MODE, problem, fix, others=others, rule=rules.HEALTH_ALONE)


def _pools(settings: Settings) -> Iterator[SettingFinding]:
    pools, mode = passthrough_pools(settings), settings.health.mode
    if not pools:
        problem = "No pool has whole GPUs: on vGPU guests, NVSentinel only reads the kernel's log."
        if reaches(settings, "taint"):
            problem = f"Mode {mode} has no node to act on. {problem}"
            yield error(_MODE, problem, "mode: detect or mode: alert.", rule=rules.HEALTH_POOLS)
        else:
            yield warning(_MODE, problem, "mode: alert, or nothing.", rule=rules.HEALTH_POOLS)
    elif reaches(settings, "taint") and not any(map(least_nodes, pools.values())):
        names = " and ".join(pools)
        problem = (
            f"While {names} {'has' if len(pools) == 1 else 'have'} no nodes, fault-quarantine exits and is restarted."
        )
        fix = f"pools.{next(iter(pools))}.scale.min: 1, or nothing: it runs as soon as there is a GPU node."
        yield warning(_MODE, problem, fix, rule=rules.HEALTH_EMPTY)
