"""Metrics, alerts and dashboards of the platform: data, and pure functions that render it.

>>> from physical_ai.telemetry.rule_rows import alert_rows
>>> "GPUXidNodeFault" in alert_rows()
True
"""
