"""Compatibility of versions: rules over GPU Operator, Kubernetes, driver, toolkit, containerd and node image.

>>> [finding.rule for finding in judge_upgrade("v26.7.0", "v26.3.3")]
['upgrade-downgrade']
"""

from __future__ import annotations

from physical_ai.catalog.compat.chart import KeyChanges, check_values, key_changes, known_keys
from physical_ai.catalog.compat.driver_fields import check_driver, driver_fields
from physical_ai.catalog.compat.keys import KeyTable
from physical_ai.catalog.compat.lifecycle import Phase, lifecycle
from physical_ai.catalog.compat.stack import GpuStack, judge_stack
from physical_ai.catalog.compat.tables import check_chart, key_table, key_versions
from physical_ai.catalog.compat.upgrade import judge_upgrade, upgrade_path

__all__ = [
    "GpuStack",
    "KeyChanges",
    "KeyTable",
    "Phase",
    "check_chart",
    "check_driver",
    "check_values",
    "driver_fields",
    "judge_stack",
    "judge_upgrade",
    "key_changes",
    "key_table",
    "key_versions",
    "known_keys",
    "lifecycle",
    "upgrade_path",
]
