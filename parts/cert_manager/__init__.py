"""cert-manager, which gets the certificate of OSMO's gateway issued."""
