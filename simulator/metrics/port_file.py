"""File in a control plane's folder with the port of its exporters."""

METRICS_FILE = "metrics-port.json"
