"""ARM's validation and what-if of deployment templates, by the rules of the simulated Azure.

The real ARM asks only the services that take part in its preflight, and skips what depends on `reference`. The
simulated one applies all of its rules, so a template that it accepts can still be refused by the real one.
"""

from __future__ import annotations

from simulator.azure.deployments.judging import Denial, Judge, Verdict

__all__ = ["Denial", "Judge", "Verdict"]
