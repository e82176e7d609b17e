"""What the platform measures, when it alerts, and what it shows: data, and pure functions that render it.

>>> [rule.alert for rule in rules(parameters)][:1]
['GPUXidNodeFault']
"""
