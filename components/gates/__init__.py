"""Waiting until what was deployed works, as steps of the deployment."""
