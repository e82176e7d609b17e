"""The optional parts of the platform: a folder for each, listed once in `parts.registry`."""

from physical_ai.repository import PART_FOLDERS

# A team's own parts are modules of this package, too. The platform's come first, so that none can be replaced.
__path__ += [str(folder) for folder in PART_FOLDERS[1:]]

# A part's settings are in the tree of settings, and its plan reads that tree: whatever imports a part first imports the
# settings, so that both are always loaded in the same order.
import physical_ai.settings as _settings  # noqa: E402 - a part is found on the path above

__all__ = ["_settings"]
