"""The node agent that installs, proves, keeps and upgrades the GRID (vGPU) driver of one node.

Standard library only, Python 3.10 and newer: it runs on the host's own interpreter. The modules lie flat, because a
ConfigMap carries them. `facts` says what is known, `decide` what follows from it (pure), `machine` does one step of it,
`host` and `api` are the real world. `../README.md` is the reference for paths, commands, timings and exit codes.
"""
