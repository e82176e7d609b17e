"""Plans: the Helm values and Kubernetes objects that a stack installs, as plain data.

They follow from the settings by pure functions.
"""

# Loading a stack makes its plan: whatever imports a plan first imports the settings, so that both are always loaded in
# the same order.
import physical_ai.settings as _settings

__all__ = ["_settings"]
