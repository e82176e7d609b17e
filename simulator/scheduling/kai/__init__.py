"""Simulation of the KAI scheduler v0.17.0: queues, gangs, and its messages. docs/simulator.md lists what
is left out.
"""
