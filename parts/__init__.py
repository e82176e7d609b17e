"""The optional parts of the platform: a folder for each, listed once in `parts.registry`."""

# A part's settings are in the tree of settings, and its plan reads that tree: whatever imports a part first imports the
# settings, so that both are always loaded in the same order.
import physical_ai.settings as _settings

__all__ = ["_settings"]
