"""Where a control plane's folder names the port of its exporters."""

METRICS_FILE = "metrics-port.json"
