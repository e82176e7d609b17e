"""A new project of a team, in which the platform is a dependency: its files, and the pins of its packages."""
