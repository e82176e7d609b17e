"""ARM's validation and what-if of deployment templates, by the rules of the simulated Azure.

The real ARM checks less: it asks only services that take part in preflight, and skips values that depend on the
template function `reference`. The simulator applies all its rules, so the real Azure may still refuse a deployment that
the real ARM validated.
"""

from __future__ import annotations

from simulator.azure.deployments.judging import Judge, Verdict

__all__ = ["Judge", "Verdict"]
