"""Error of the installation of tools."""

from __future__ import annotations


class BuildFailed(Exception):
    """Error if a tool could not be installed; the text has the tool, the reason, and the log."""
