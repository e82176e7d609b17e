"""File in the folder of a control plane that contains the port of the cluster's exporters."""

METRICS_FILE = "metrics-port.json"
