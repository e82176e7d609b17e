"""Settings of Hypothesis for all tests: the same examples in every run, and no limit of time for one.

`pytest --hypothesis-profile search` looks for new examples instead.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", settings.get_profile("search"), derandomize=True)
settings.load_profile("steady")
