"""File in a control plane's folder that has the port of the cluster's exporters."""

METRICS_FILE = "metrics-port.json"
