"""Configuration that OSMO's control plane in one stack needs for the cluster of another stack. Names of pools and
templates begin with the name of that cluster's backend.
"""

from __future__ import annotations

import copy
from typing import Any

from physical_ai.planning import osmo_platforms
from physical_ai.planning.osmo_platforms import DEFAULT_POOL
from physical_ai.settings.models.tree import Settings


def served_sections(served: Settings) -> dict[str, dict[str, Any]]:
    """Sections of the configuration, by the names of the chart's values.

    Stacks may have templates and validations with the same name and different content, so every name begins with the
    backend's name. The pool `default` becomes `BACKEND`, and any other pool `BACKEND-POOL`.
    """
    backend = served.osmo.backend_name

    def named(name: str) -> str:
        return f"{backend}-{name}"

    def listed(names: list[str]) -> list[str]:
        return [named(name) for name in names]

    validations = osmo_platforms.resource_validations(served)
    pools: dict[str, Any] = {}
    for name, pool in copy.deepcopy(osmo_platforms.pools(served)).items():
        pool["common_pod_template"] = listed(pool["common_pod_template"])
        pool["common_resource_validations"] = listed(pool["common_resource_validations"])
        for platform in pool["platforms"].values():
            platform["override_pod_template"] = listed(platform["override_pod_template"])
            platform["resource_validations"] = listed(platform["resource_validations"])
        pools[backend if name == DEFAULT_POOL else named(name)] = pool
    return {
        "podTemplates": {named(name): item for name, item in osmo_platforms.pod_templates(served).items()},
        "resourceValidations": {named(name): item for name, item in validations.items()},
        "backends": osmo_platforms.backends(served),
        "pools": pools,
    }
