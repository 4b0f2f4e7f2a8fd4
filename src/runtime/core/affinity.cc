#include "runtime/core/affinity.h"

#include <algorithm>

namespace mangrove::runtime {

namespace {

constexpr size_t kMostClients = 10'000;  // of one port; beyond, those who are gone are forgotten

}  // namespace

const Backend& Affinity::choose(uint32_t client, const std::vector<Backend>& backends, size_t fresh,
                                Duration timeout, MonoTime now) {
  if (auto known = last_.find(client); known != last_.end() && now - known->second.seen < timeout) {
    auto same = std::find(backends.begin(), backends.end(), known->second.backend);
    if (same != backends.end()) {
      known->second.seen = now;
      return *same;
    }
  }
  if (last_.size() >= kMostClients) forgetOld(timeout, now);
  const Backend& chosen = backends[fresh % backends.size()];
  last_.insert_or_assign(client, Last{chosen, now});
  return chosen;
}

// All of them, if everybody is still there: a wrong guess costs a session, a full table memory.
void Affinity::forgetOld(Duration timeout, MonoTime now) {
  std::erase_if(last_, [&](const auto& entry) { return now - entry.second.seen >= timeout; });
  if (last_.size() >= kMostClients) last_.clear();
}

}  // namespace mangrove::runtime
