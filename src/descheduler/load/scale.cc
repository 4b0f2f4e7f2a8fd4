#include "descheduler/load/scale.h"

#include <algorithm>

namespace mangrove::descheduler {
namespace {
constexpr int64_t kNanoPerMilli = 1'000'000;
}

Scale::Scale(const std::set<std::string>& names) : names_(names.begin(), names.end()) {
  for (const std::string& name : names_) handles_.emplace_back(name);
  cpu_ = static_cast<size_t>(std::find(names_.begin(), names_.end(), "cpu") - names_.begin());
}

std::optional<size_t> Scale::indexOf(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  if (at == names_.end() || *at != name) return std::nullopt;
  return static_cast<size_t>(at - names_.begin());
}

Loads Scale::of(const api::ResourceList& list) const {
  Loads out = zero();
  for (size_t i = 0; i < out.size(); ++i) {
    const Quantity* amount = list.find(handles_[i]);
    if (amount != nullptr) out[i] = amount->scaled(i == cpu_ ? -9 : 0);
  }
  return out;
}

int64_t Scale::plain(size_t i, int64_t load) const {
  if (i != cpu_) return load;
  const int64_t milli = load / kNanoPerMilli;
  return load % kNanoPerMilli > 0 ? milli + 1 : milli;
}

int64_t Scale::fromPlain(size_t i, int64_t plain) const {
  return i == cpu_ ? plain * kNanoPerMilli : plain;
}

void add(Loads& sum, const Loads& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}
void subtract(Loads& sum, const Loads& less) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] -= less[i];
}

}  // namespace mangrove::descheduler
