"""Metrics, alerts and dashboards of the platform: data, and pure functions that render it.

>>> [alert.name for alert in alerts(parameters)][:1]
['GPUXidNodeFault']
"""
