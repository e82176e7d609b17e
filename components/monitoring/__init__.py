"""Logs, metrics, alerts and traces."""
