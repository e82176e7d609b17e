"""ARM's judgement of deployment templates: validation and what-if, by the rules of the simulated Azure.

The real ARM asks the services that take part in its preflight, and leaves out what depends on `reference`. This one
applies all of its rules: what it accepts, the real one need not.
"""

from __future__ import annotations

from simulator.azure.deployments.judging import Denial, Judge, Verdict

__all__ = ["Denial", "Judge", "Verdict"]
