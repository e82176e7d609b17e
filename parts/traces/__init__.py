"""The OpenTelemetry Collector, which takes traces from workflows and sends them on."""
