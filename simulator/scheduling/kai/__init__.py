"""Simulation of the KAI scheduler v0.17.0: queues, gangs, and the scheduler's messages. docs/simulator.md lists the
parts of KAI that the simulation lacks.
"""
