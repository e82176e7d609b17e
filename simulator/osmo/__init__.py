"""Simulated OSMO service and agents, which create a workflow's objects and follow them.

The service has no database, no storage and no users. It acts in the cluster with the rights of the agents' service
account, so it lacks every right that the agents' chart does not grant.
"""

from __future__ import annotations

from simulator.osmo.service import AgentsMissing, Service
from simulator.osmo.workflow import Group, Result, Task, TaskResult, Workflow

__all__ = ["AgentsMissing", "Group", "Result", "Service", "Task", "TaskResult", "Workflow"]
