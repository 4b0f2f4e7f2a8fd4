# Measured usage against what really happened, with cgroup v2: a process that burns one CPU, new containers, a pod storm.
[ -x /bin/agent_test ] || { echo "agent_test was not built"; exit 77; }
agent_test --gtest_brief=1 --gtest_filter='RealCgroups.*'
