#pragma once
// Who gets what when a machine is short: services before batch work for CPU, as the kernel's idle
// class and the least weight have it; for memory the kernel kills, batch work first. Pure functions,
// any thread.
//
//   CpuGrants got = divideCpu({.capacity = 32, .system = 0.5, .services = 20, .batch = 16, .batchLimit = 8});
//   // services 20, batch 8: the limit of the agent holds

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mangrove::sim {

struct CpuNeeds {
  double capacity = 0;
  double system = 0;    // comes before everybody
  double services = 0;  // what all of them want
  double batch = 0;
  double batchLimit = 0;  // quota or cpuset of the best-effort group, cores
};
struct CpuGrants {
  double services = 0, batch = 0;
};
CpuGrants divideCpu(const CpuNeeds& needs);

struct CpuClaim {
  double wants = 0, weight = 0;
};
// Everybody has what he wants where there is enough; else by weight, and what one does not want goes
// to the others.
std::vector<double> fairShares(double capacity, std::span<const CpuClaim> claims);

// Which of these the kernel kills until `over` bytes are free: the largest first, of equals the
// first. All of them where they are not enough.
std::vector<size_t> killedFor(int64_t over, std::span<const int64_t> uses);

}  // namespace mangrove::sim
