"""Pools as the service resolves them in its other mode, where the command line writes them into its database.

Only to tell the difference: there a name that leads nowhere is refused, and templates are shared while they are merged.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from physical_ai.osmo.matching import Toleration
from physical_ai.osmo.merge import merge_into
from physical_ai.osmo.models import as_refusal
from physical_ai.osmo.pools import derived
from physical_ai.osmo.refusal import Refusal
from physical_ai.osmo.shapes import a_list, a_map


def resolve_pool(
    pool: Mapping[str, Any], templates: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The pool's merged template, and what is derived for each platform. Raises Refusal.

    A list of a template that another is merged into grows, so a platform that uses the template again gets it all.
    """
    shared = copy.deepcopy(dict(templates))
    base = _merged({}, a_list(pool.get("common_pod_template")), shared)
    platforms: dict[str, dict[str, Any]] = {}
    for name, platform in a_map(pool.get("platforms")).items():
        merged = _merged(copy.deepcopy(base), a_list(platform.get("override_pod_template")), shared)
        fields = derived(merged)
        try:
            tolerations = [Toleration.model_validate(item).model_dump() for item in fields["tolerations"]]
        except ValidationError as error:
            raise as_refusal(error) from None
        platforms[name] = {**fields, "tolerations": tolerations}
    return base, platforms


def _merged(base: dict[str, Any], names: Sequence[str], shared: Mapping[str, Any]) -> dict[str, Any]:
    for name in names:
        if name not in shared:
            raise Refusal("OSMOUsageError", f"there is no pod template '{name}'")
        merge_into(base, shared[name])
    return base
