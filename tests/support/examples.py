"""Number of examples for a property of Hypothesis: a sixteenth in `make test`, all of them in `make test-deep`."""

from __future__ import annotations

from hypothesis import settings

SHARE = 16


def examples(count: int) -> settings:
    """Settings of the current Hypothesis profile with `count` examples, or with fewer in the profile `few`."""
    few = settings.get_current_profile_name() == "few"
    return settings(max_examples=-(-count // SHARE) if few else count)
