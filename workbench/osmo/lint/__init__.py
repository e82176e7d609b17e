"""Check of workflow files and of OSMO's configuration before they are used.

>>> from physical_ai.settings import load
>>> checked = check_text("workflow: {}", "empty.yaml", of_stack(load("dev-westus2").settings))
>>> [finding.rule for finding in checked.findings]
['schema']
"""

from __future__ import annotations

from workbench.osmo.lint.context import Context, config_of_values, of_chart_values, of_stack
from workbench.osmo.lint.finding import Rule, WorkflowFinding
from workbench.osmo.lint.isolated import check_files
from workbench.osmo.lint.registry import RULES
from workbench.osmo.lint.run import Checked, check_text

__all__ = [
    "RULES",
    "Checked",
    "Context",
    "Rule",
    "WorkflowFinding",
    "check_files",
    "check_text",
    "config_of_values",
    "of_chart_values",
    "of_stack",
]
