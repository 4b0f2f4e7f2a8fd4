// GPU requests that no node could satisfy, or that mean two things at once. Looks at the requests
// of each ordinary container by itself.
#include <fmt/format.h>

#include "api/wire/names.h"
#include "manager/webhook/pod/validate.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;

class GpuRules {
 public:
  GpuRules(const api::Container& container, Faults& out) : container_(container), out_(out) {}

  void check() {
    const bool whole = has(resource::kGpu), shared = has(resource::kGpuShared);
    if (whole && shared) {
      return add("gpu-and-gpu-shared",
                 "names both koordinator.sh/gpu and koordinator.sh/gpu.shared");
    }
    if (whole) checkWhole(amount(resource::kGpu));
    if (shared) checkShared(amount(resource::kGpuShared));
  }

 private:
  bool has(std::string_view name) const { return container_.requests.has(name); }
  int64_t amount(std::string_view name) const { return container_.requests.amount(name).value(); }
  void add(std::string_view reason, std::string_view what) {
    out_.push_back({reason, fmt::format("container {}: {}", container_.name.view(), what)});
  }

  void checkWhole(int64_t percent) {
    if (percent == 0) return add("gpu-zero", "koordinator.sh/gpu is 0");
    if (percent > 100 && percent % 100 != 0)
      add("gpu-not-multiple-of-100",
          fmt::format("koordinator.sh/gpu is {}; above 100 it must be a multiple of 100", percent));
  }

  void checkShared(int64_t cards) {
    if (cards == 0) add("gpu-zero", "koordinator.sh/gpu.shared is 0");
    checkMemory();
    if (cards == 0) return;
    checkMultiple(resource::kGpuCore, cards, "gpu-core-not-multiple-of-shared");
    checkMultiple(resource::kGpuMemoryRatio, cards, "gpu-memory-ratio-not-multiple-of-shared");
  }

  // Ascend cards are cut by cores; their memory follows.
  void checkMemory() {
    if (amount(resource::kHuaweiNpuCore) != 0) return;
    const bool bytes = amount(resource::kGpuMemory) != 0;
    const bool ratio = amount(resource::kGpuMemoryRatio) != 0;
    if (bytes && ratio)
      add("gpu-memory-and-ratio", "names both gpu-memory and gpu-memory-ratio; want one of them");
    if (!bytes && !ratio)
      add("gpu-memory-missing", "names neither gpu-memory nor gpu-memory-ratio; want one of them");
  }

  void checkMultiple(std::string_view name, int64_t cards, std::string_view reason) {
    if (amount(name) % cards != 0)
      add(reason, fmt::format("{} is {}; want a multiple of koordinator.sh/gpu.shared ({})", name,
                              amount(name), cards));
  }

  const api::Container& container_;
  Faults& out_;
};

}  // namespace

Faults deviceFaults(const api::Pod& pod) {
  Faults out;
  for (const api::Container& container : pod.spec->containers) GpuRules(container, out).check();
  return out;
}

}  // namespace mangrove::manager
