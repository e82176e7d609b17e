"""The data services of OSMO's control plane: in Azure, or in the cluster."""
