#pragma once
// A pod as a busy cluster has it, about 2.2 KB of JSON: owner, labels, annotations, a main
// container and a sidecar, probes, mounts, conditions and statuses. Deterministic in `index` and
// `version`.

#include <cstdint>
#include <string>

namespace mangrove::client {

std::string podText(int64_t index, uint64_t version);

}  // namespace mangrove::client
