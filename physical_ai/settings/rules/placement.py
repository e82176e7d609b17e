"""Rules about node labels and taints: their syntax, and keys that belong to Kubernetes, AKS or the driver source."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import nearest
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.settings.facts import pools as facts
from physical_ai.settings.facts.labels import EFFECTS, is_reserved, is_value, key_problem, split_taint
from physical_ai.settings.facts.node_labels import KEYS, own_labels
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning
from physical_ai.settings.rules.registry import PROGRAMS_LABEL, TWO_OWNERS


def check_labels(name: str, pool: Pool, trust: Trust) -> Iterator[SettingFinding]:
    """Findings about labels that a stack adds to a pool."""
    path: Path = ("pools", name, "labels")
    if not trust(path):
        return
    own = own_labels(name, pool) if trust(("pools", name, "driver"), ("pools", name, "priority")) else None
    for key, value in pool.labels.items():
        setting = (*path, key)
        if problem := key_problem(key):
            yield error(setting, problem, "Like example.com/team or team.")
            continue
        if value and not is_value(value):
            problem = (
                f"'{value}' is not a label value: at most 63 of letters, digits, '-', '_' and '.', not at the ends."
            )
            yield error(setting, problem, None)
        if own is None:
            continue
        if own.get(key) == value:
            yield warning(setting, f"The program sets '{key}' to '{value}' itself.", "Omit it.")
        elif key in own or key in KEYS:
            set_to = f"'{own[key]}'" if key in own else "nothing"
            problem = f"'{key}' is set by the program to {set_to} on this pool; '{value}' conflicts."
            others: tuple[Path, ...] = (("pools", name, "driver", "source"), ("pools", name, "priority"))
            rule = TWO_OWNERS if key in (DRIVER_LABEL, facts.DEPLOY_DRIVER_LABEL) else PROGRAMS_LABEL
            fix = f"Omit {key}, or change driver.source or priority."
            yield error(setting, problem, fix, others=others, rule=rule)
        elif is_reserved(key):
            problem = f"'{key}' has a prefix that only Kubernetes and AKS may use."
            if "/" not in key:
                problem = f"'{key}' is a label that AKS sets itself."
            yield error(setting, problem, f"Use your own prefix, like example.com/{key.rpartition('/')[2]}.")


def check_taints(name: str, pool: Pool, trust: Trust) -> Iterator[SettingFinding]:
    """Findings about taints that a stack adds to a pool."""
    path: Path = ("pools", name, "taints")
    if not trust(path):
        return
    own = facts.own_taints(pool) if trust(("pools", name, "priority")) else [facts.GPU_TAINT]
    seen = {(key, effect): taint for taint in own for key, _, effect in [split_taint(taint)]}
    for index, taint in enumerate(pool.taints):
        setting = (*path, index)
        problem = _taint_problem(taint)
        if problem is not None:
            yield error(setting, *problem)
            continue
        key, _, effect = split_taint(taint)
        if taint in own:
            yield warning(setting, f"The program sets the taint '{taint}' itself.", "Omit it.")
        elif (key, effect) in seen:
            problem = f"'{taint}' repeats the key and effect of '{seen[key, effect]}'."
            yield error(setting, problem, "Omit it, or use another key.")
        elif key.partition("/")[0] == "kubernetes.azure.com" and "/" in key:
            yield error(setting, f"'{key}' has a prefix that only AKS may use.", "Use your own prefix.")
        seen.setdefault((key, effect), taint)


def _taint_problem(taint: str) -> tuple[str, str] | None:
    key, value, effect = split_taint(taint)
    if not effect or ":" not in taint:
        return f"'{taint}' is not a taint.", "Write it as key=value:NoSchedule."
    if effect not in EFFECTS:
        near = nearest(effect, EFFECTS) or EFFECTS[0]
        return f"'{effect}' is not a taint effect.", f"Write {key}={value}:{near}; one of {', '.join(EFFECTS)}."
    if problem := key_problem(key):
        return problem, "Write it as key=value:NoSchedule."
    if not value:
        problem = (
            f"'{taint}' has no value. The autoscaler drops such a taint from its template, so an empty pool "
            "would look untainted and scale up for any pod."
        )
        return problem, f"Write {key}=present:{effect}."
    if not is_value(value):
        return f"'{value}' is not a taint value: at most 63 of letters, digits, '-', '_' and '.'.", "Like key=value."
    return None
