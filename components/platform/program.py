"""The program that `pulumi up` runs, for the `__main__.py` of a team's own project."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from physical_ai.repository import INSTALLED

if TYPE_CHECKING:
    from components.platform.platform import Platform

ENTRY = INSTALLED / "__main__.py"
"""The platform's own program, which a checkout runs directly."""


def deploy() -> Platform:
    """Declares the platform of the selected stack, exports its outputs, and returns it for a team's own resources.

    Raises:
        pulumi.RunError: The settings, a values file or a part cannot be used; the text names the file, the path in the
            file, and the fix.
    """
    return runpy.run_path(str(ENTRY), run_name="physical_ai_program")["platform"]
