"""The real Pulumi engine and a real Kubernetes control plane on a laptop, with stand-ins for Azure and GPU hardware."""
