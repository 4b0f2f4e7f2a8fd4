#pragma once
// Batch work for experiments: a product of matrices, which uses caches as real work does. One call
// is one unit of work, about a millisecond. One per process; safe after a fork.
//
//   for (;;) multiplyOnce();

namespace mangrove::agent {

void multiplyOnce();
// From now on this process works only on CPUs that would sleep otherwise (SCHED_IDLE).
void becomeIdleClass();

}  // namespace mangrove::agent
