"""Simulated service and agents of OSMO, which create the objects of a workflow and follow the workflow.

The service has no database, no storage and no users. It acts in the cluster with the rights of the agents' service
account, so it can do only what the agents' chart allows.
"""

from __future__ import annotations

from simulator.osmo.service import AgentsMissing, Service
from simulator.osmo.workflow import Group, Result, Task, TaskResult, Workflow

__all__ = ["AgentsMissing", "Group", "Result", "Service", "Task", "TaskResult", "Workflow"]
