"""Recordings: the state of a subscription and a cluster in one file. Making a recording needs read-only rights; reading
a recording needs no access to Azure or the cluster.
"""

from __future__ import annotations
