"""What is installed by a stack's settings: Helm values and Kubernetes objects, as plain data. Pure functions."""

# Loading a stack makes its plan: whatever imports a plan first imports the settings, so that both are always loaded in
# the same order.
import physical_ai.settings as _settings

__all__ = ["_settings"]
