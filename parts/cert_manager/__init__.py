"""cert-manager, which requests the TLS certificate of OSMO's gateway from a certificate authority."""
