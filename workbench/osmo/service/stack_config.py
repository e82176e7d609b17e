"""OSMO's configuration of a stack, in the form that OSMO has in memory after reading its configuration file and its
secrets.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from physical_ai.catalog.osmo import CREDENTIAL_SECRETS
from physical_ai.planning.osmo_service import SECTIONS, configuration
from physical_ai.settings import Settings


def loaded_config(settings: Settings, served: Sequence[Settings] = ()) -> dict[str, Any]:
    """OSMO's configuration of the stack with these settings, with placeholders for secrets. The function `service.load`
    reads it.

    Args:
        served: Other stacks that use this stack's OSMO service.
    """
    config = {SECTIONS[name]: copy.deepcopy(section) for name, section in configuration(settings, served).items()}
    config["service"].setdefault("service_base_url", "https://osmo.invalid")
    for key in CREDENTIAL_SECRETS:
        config["workflow"][key] = {"credential": {"endpoint": f"azure://osmo/{key.replace('_', '-')}"}}
    # Access to storage can't be checked here, so it is not counted as an error.
    config["workflow"]["credential_config"] = {"disable_data_validation": ["azure", "s3", "gs", "swift", "tos"]}
    return config
