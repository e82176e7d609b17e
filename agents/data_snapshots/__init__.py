"""Takes snapshots of volumes and deletes old ones: the program of a CronJob. Standard library only."""
