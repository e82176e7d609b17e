"""cert-manager, which has the certificate of OSMO's gateway issued."""
