"""A model of the KAI scheduler v0.17.0: queues, gangs, and its messages; what it leaves out is in docs/simulator.md."""
