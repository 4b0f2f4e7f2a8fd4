# Every strategy that this kernel supports, over real cgroups v2, 16 CPUs with SMT and 2 NUMA nodes: the files hold what the
# rules say, and afterwards what they held before; network classes in a namespace of their own.
[ -x /bin/agent_test ] || { echo "agent_test was not built"; exit 77; }
MANGROVE_TEST_SYSCTL=1 agent_test --gtest_brief=1 --gtest_filter='RealEnforce.*:RealNetwork.*'
