"""Telemetry of a simulated cluster: exporters, and the Prometheus and Alertmanager that read them."""
