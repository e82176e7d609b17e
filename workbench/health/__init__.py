"""Health of GPU nodes: acceptance before they get work, evidence about their faults, and repairs."""
