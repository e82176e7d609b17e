"""Telemetry of a simulated cluster: exporters, and a real Prometheus and Alertmanager that read them."""
