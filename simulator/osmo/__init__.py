"""Simulated OSMO service and agents: they create a workflow's objects, and follow them.

The service has no database, no storage and no users. It acts in the cluster with the rights of the agents' service
account, so a right that their chart does not grant is missing here, too.
"""

from __future__ import annotations

from simulator.osmo.service import AgentsMissing, Service
from simulator.osmo.workflow import Group, Result, Task, TaskResult, Workflow

__all__ = ["AgentsMissing", "Group", "Result", "Service", "Task", "TaskResult", "Workflow"]
