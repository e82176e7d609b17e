"""Metrics, alerts and dashboards of the platform: data, and pure functions that render it.

>>> [rule.alert for rule in rules(parameters)][:1]
['GPUXidNodeFault']
"""
