"""Number of examples that a property of Hypothesis gets: an eighth in `make test`, all of them in `make test-deep`."""

from __future__ import annotations

from hypothesis import settings

SHARE = 8


def examples(count: int) -> settings:
    """Settings of the current Hypothesis profile with `count` examples, or with fewer in the profile `few`."""
    few = settings.get_current_profile_name() == "few"
    return settings(max_examples=-(-count // SHARE) if few else count)
