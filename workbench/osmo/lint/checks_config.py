"""Checks of OSMO's configuration in values of its chart: errors that OSMO reports when it loads the configuration, and
errors that OSMO does not notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.planning.osmo_platforms import CAPABILITIES, DEFAULT_POOL
from physical_ai.planning.osmo_service import CHART_PLATFORM
from workbench.osmo.lint import checks_smoke, rules_config
from workbench.osmo.lint.context import config_of_values, with_storage
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.source import Source
from workbench.osmo.lint.view import forces_capabilities, requests_gpus
from workbench.osmo.refusal import Refusal
from workbench.osmo.service.assertions import ResourceAssertion
from workbench.osmo.service.configuration import Configuration, load, load_errors
from workbench.osmo.service.pools import Missing, Pool
from workbench.osmo.shapes import a_map
from workbench.osmo.units import duration

CONFIGS: Path = ("services", "configs")
DURATIONS = {
    *("default_exec_timeout", "default_queue_timeout", "max_exec_timeout", "max_queue_timeout"),
    *("force_cleanup_delay", "task_heartbeat_frequency", "max_pod_restart_limit"),
}
_KEYS = {
    "pod_templates": "podTemplates",
    "resource_validations": "resourceValidations",
    "group_templates": "groupTemplates",
}


def check(document: Mapping[str, Any], source: Source) -> Configuration | None:
    """Adds the findings of all checks in this module to `source`. Returns the configuration, or None if OSMO could not
    load it.
    """
    config = config_of_values(document)
    _chart_platform(document, source)
    errors = load_errors(config)
    for error in errors:
        for steps, message in _problems(error.refusal, f"{error.section}."):
            source.add(rules_config.CONFIG_LOADS, (*CONFIGS, error.section, *steps), message)
    if errors:
        return None
    try:
        loaded = load(with_storage(config))
    except Refusal as refusal:
        source.add(rules_config.CONFIG_LOADS, CONFIGS, refusal.message)
        return None
    for missing in loaded.missing:
        _missing(missing, config, source)
    _durations(loaded, source)
    for name in loaded.pool_names:
        _pool(name, loaded, source)
    _variables(config, source)
    return loaded


def _problems(refusal: Refusal, prefix: str = "") -> list[tuple[Path, str]]:
    """Path and message of each wrong value in a refusal; if there is none, an empty path and the refusal's message."""
    found = [(item.steps, f"{prefix}{item.path}: {item.message}") for item in refusal.problems]
    return found or [((), refusal.message)]


def _chart_platform(document: Mapping[str, Any], source: Source) -> None:
    pools = a_map(a_map(a_map(document.get("services")).get("configs")).get("pools"))
    if not pools:
        return
    default = a_map(pools.get(DEFAULT_POOL))
    platforms = a_map(default.get("platforms"))
    path: Path = (*CONFIGS, "pools", DEFAULT_POOL, "platforms")
    if CHART_PLATFORM not in platforms and pools.get(DEFAULT_POOL, "") is not None:
        problem = f"the chart's platform '{CHART_PLATFORM}' remains in pool '{DEFAULT_POOL}', without any guard"
        source.add(rules_config.CONFIG_CHART_PLATFORM, path, problem)


def _durations(config: Configuration, source: Source) -> None:
    """Reports invalid durations. OSMO keeps durations as text, and parses them for each workflow."""
    sections: list[tuple[Path, dict[str, Any]]] = [
        (("workflow",), config.workflow.model_dump()),
        (("service",), config.service.model_dump()),
    ]
    for name, pool in a_map(config.data.get("pools")).items():
        texts = {key: value for key, value in a_map(pool).items() if key in DURATIONS and value}
        sections.append((("pools", name), texts))
    for path, values in sections:
        for key in sorted(DURATIONS & values.keys()):
            if isinstance(values[key], str):
                try:
                    duration(values[key])
                except ValueError as error:
                    source.add(rules_config.CONFIG_READS, (*CONFIGS, *path, key), f"{key}: {error}")


def _missing(missing: Missing, config: Mapping[str, Any], source: Source) -> None:
    path: Path = (*CONFIGS, *missing.path.split("."))
    known = [str(name) for name in a_map(config.get(missing.section))]
    near = nearest(missing.name, known)
    what = missing.section.replace("_", " ").removesuffix("s")
    fix = f"Did you mean '{near}'?" if near else f"Known in {_KEYS[missing.section]}: {', '.join(known) or 'none'}."
    source.add(rules_config.CONFIG_NAME, path, f"{what} '{missing.name}' does not exist", fix)


def _pool(name: str, config: Configuration, source: Source) -> None:
    pool_path: Path = (*CONFIGS, "pools", name)
    try:
        pool = config.pool(name)
        config.scheduler(pool.backend)
    except Refusal as refusal:
        for steps, message in _problems(refusal):
            source.add(rules_config.CONFIG_READS, _written(pool_path, steps), f"pool '{name}' can't be read: {message}")
        return
    if pool.default_platform and pool.default_platform not in pool.platforms:
        near = nearest(pool.default_platform, pool.platforms)
        fix = f"Did you mean '{near}'?" if near else f"Platforms: {', '.join(pool.platforms)}."
        problem = f"pool '{name}' has no platform '{pool.default_platform}'"
        source.add(rules_config.CONFIG_DEFAULT_PLATFORM, (*pool_path, "default_platform"), problem, fix)
    _platforms(name, pool, pool_path, source)
    checks_smoke.check(pool, config, pool_path, source)


def _written(here: Path, steps: Path) -> Path:
    """Path, in the configuration file, of the setting from which OSMO computes the value at the path `steps` of the
    loaded configuration. `here` is the path of the pool or platform in the file.
    """
    computed = {
        "parsed_resource_validations": "resource_validations",
        "parsed_pod_template": "override_pod_template",
        "tolerations": "override_pod_template",
        "labels": "override_pod_template",
    }
    found: list[str | int] = []
    for step in steps:
        if step in computed:
            found.append(computed[str(step)])
            break
        found.append(step)
    return (*here, *found)


def _platforms(name: str, pool: Pool, here: Path, source: Source) -> None:
    for key, platform in pool.platforms.items():
        path: Path = (*here, "platforms", key)
        _node_checks(platform.parsed_resource_validations, path, source)
        seen: list[dict[str, Any]] = []
        for item in platform.tolerations:
            toleration = item.model_dump()
            if toleration in seen:
                problem = f"platform '{key}' of pool '{name}' tolerates {item.key} more than once"
                source.add(rules_config.CONFIG_TOLERATION, (*path, "override_pod_template"), problem)
            seen.append(toleration)
        template = platform.parsed_pod_template
        if requests_gpus(template) and not forces_capabilities(template):
            problem = f"platform '{key}' requests GPUs, but none of its templates sets {CAPABILITIES}"
            source.add(rules_config.CONFIG_CAPABILITIES, path, problem)


def _node_checks(assertions: list[ResourceAssertion], path: Path, source: Source) -> None:
    for item in assertions:
        if item.is_about_nodes:
            problem = (
                f"'{item.left_operand} {item.operator} {item.right_operand}' compares with nodes, which may not exist"
            )
            source.add(rules_config.CONFIG_NODE_CHECK, (*path, "resource_validations"), problem)


def _variables(config: Mapping[str, Any], source: Source) -> None:
    for name, pool in a_map(config.get("pools")).items():
        pool_path: Path = (*CONFIGS, "pools", name)
        places: list[tuple[Path, dict[str, Any]]] = [
            ((*pool_path, "common_default_variables"), a_map(a_map(pool).get("common_default_variables")))
        ]
        for key, platform in a_map(a_map(pool).get("platforms")).items():
            variables = a_map(a_map(platform).get("default_variables"))
            places.append(((*pool_path, "platforms", key, "default_variables"), variables))
        for path, variables in places:
            gpus = variables.get("USER_GPU")
            if isinstance(gpus, int) and gpus > 0:
                problem = f"USER_GPU: {gpus} requests GPUs for workflows that do not use any"
                source.add(rules_config.CONFIG_GPU_DEFAULT, (*path, "USER_GPU"), problem)
