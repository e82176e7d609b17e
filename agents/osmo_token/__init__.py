"""Creates the access token that OSMO's agents of one backend log in with, and puts it into their Secret."""
