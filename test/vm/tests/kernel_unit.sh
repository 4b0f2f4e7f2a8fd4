# The kernel layer's own tests on a cgroup v2 machine.
[ -x /bin/kernel_test ] || { echo "kernel_test was not built"; exit 77; }
kernel_test --gtest_brief=1
