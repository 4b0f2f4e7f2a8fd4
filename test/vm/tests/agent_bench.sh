# The agent as a process against our own API server, with twenty real pods on cgroup v2.
mangrove bench agent --pods 20 --warmup 5s --seconds 20s
