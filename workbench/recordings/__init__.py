"""Recordings of a subscription and a cluster in one file: written with read-only rights, and read without
any access.
"""

from __future__ import annotations
