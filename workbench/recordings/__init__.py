"""Recordings: a subscription and a cluster in one file, which is made with read-only rights and needs no access to be
read.
"""

from __future__ import annotations
