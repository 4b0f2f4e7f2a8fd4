#include "agent/bench/batch_work.h"

#include <sched.h>

namespace mangrove::agent {

void multiplyOnce() {
  constexpr int kSize = 96;
  static double a[kSize][kSize], b[kSize][kSize], c[kSize][kSize];
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      double sum = 0;
      for (int k = 0; k < kSize; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum + 1;
      asm volatile("" : : "r"(&c[i][j]) : "memory");
    }
}

void becomeIdleClass() {
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace mangrove::agent
