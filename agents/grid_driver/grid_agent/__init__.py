"""The node agent that installs, proves, keeps and upgrades the GRID (vGPU) driver of one node.

Standard library only, Python 3.10 and newer: it runs on the host's own interpreter. The modules are in one folder,
because a ConfigMap carries them. `facts` holds the data, `decide` derives a plan from it (pure), `machine` performs one
step of it, and `host` and `api` act on the host and the cluster. `../README.md` is the reference for paths, commands,
timings and exit codes.
"""
