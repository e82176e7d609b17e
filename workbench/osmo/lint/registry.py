"""Registry of the rules, and descriptions of sources that several rules cite."""

from __future__ import annotations

from typing import Literal

from physical_ai.findings import Severity
from workbench.osmo.lint.finding import Rule

SEEN = "NVIDIA/OSMO 6.3.1, its functions run on the vectors in tests/fixtures/osmo"
TEMPLATES = "NVIDIA/OSMO docs, pod templates; " + SEEN
TOOLKIT = "NVIDIA Container Toolkit docs, driver capabilities"
ISAAC = "Azure VM docs, nc-rtxpro6000-bse-v6 FAQ; isaac-sim/IsaacSim#794"

RULES: dict[str, Rule] = {}
"""All rules by id, in the order of their documentation."""


def rule(
    id_: str,
    severity: Literal["error", "warning"],
    title: str,
    *,
    reason: str,
    fix: str,
    source: str = SEEN,
    can_be_allowed: bool = True,
) -> Rule:
    """Registers a rule and returns it."""
    RULES[id_] = Rule(id_, Severity(severity), title, reason, fix, source, can_be_allowed)
    return RULES[id_]
