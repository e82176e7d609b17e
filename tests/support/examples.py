"""How many examples of Hypothesis a property gets: a fifth in `make test`, all of them in `make test-deep`."""

from __future__ import annotations

from hypothesis import settings

SHARE = 5


def examples(count: int) -> settings:
    """The current profile with `count` examples, or fewer where the profile asks for few."""
    few = settings.get_current_profile_name() == "few"
    return settings(max_examples=-(-count // SHARE) if few else count)
