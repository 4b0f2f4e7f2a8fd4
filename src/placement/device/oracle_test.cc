// Random boxes, pods that come and go: the allocator with its kept books gives the same cards as
// loops over everything there is, minor by minor, on whole nodes and on every set of NUMA nodes.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "base/text/strings.h"
#include "placement/device/allocate.h"
#include "placement/device/book.h"
#include "placement/testing/oracle_devices.h"

namespace mangrove::placement {
namespace {

using oracle::CardsWanted;

struct Box {
  api::Device device;
  api::Labels labels;
  bool halves = false, honor = false;
};

api::DeviceInfo infoOf(Rng& rng, std::string_view type, int minor, int perSwitch, bool placed) {
  api::DeviceInfo out;
  out.type = Interned(type);
  out.minor = minor;
  out.id = fmt::format("{}-{}", type, minor);
  out.health = rng.below(12) != 0;
  if (type == "gpu")
    out.resources = {{"koordinator.sh/gpu-core", "100"},
                     {"koordinator.sh/gpu-memory", "80Gi"},
                     {"koordinator.sh/gpu-memory-ratio", "100"}};
  else
    out.resources = {{"koordinator.sh/rdma", "100"}};
  if (placed)
    out.topology = api::DeviceTopology{-1, minor * perSwitch / 4 % 4 - (rng.below(40) == 0),
                                       std::to_string(minor * perSwitch / 2), ""};
  if (type == "rdma" && rng.below(3) != 0) {
    api::VirtualFunctionGroup group{{{"type", "general"}}, {}};
    for (uint64_t i = 0; i < 1 + rng.below(3); i++)
      group.vfs.push_back({static_cast<int32_t>(i), fmt::format("0000:{}f:00.{}", minor, i)});
    out.vfGroups.push_back(std::move(group));
  }
  return out;
}

Box boxOf(Rng& rng) {
  Box out;
  const int gpus = 1 + static_cast<int>(rng.below(8)), nics = static_cast<int>(rng.below(5));
  const bool placed = rng.below(5) != 0;
  for (int i = 0; i < gpus; i++)
    out.device.spec.devices.push_back(infoOf(rng, "gpu", i, 1, placed));
  for (int i = 0; i < nics; i++)
    out.device.spec.devices.push_back(infoOf(rng, "rdma", i, 2, placed || rng.below(2) == 0));
  out.halves = rng.below(3) == 0;
  out.honor = rng.below(2) == 0;
  if (out.halves) out.labels.set(api::label::kGpuModel, "H800");
  if (out.honor) out.labels.set(api::label::kGpuPartitionPolicy, "Honor");
  return out;
}

CardsWanted wantedOf(Rng& rng) {
  CardsWanted out;
  const auto percent = [&] { return 5 + 5 * static_cast<int>(rng.below(19)); };
  const uint64_t kind = rng.below(10);
  if (kind < 5) {
    out.gpus = 1 + static_cast<int>(rng.below(rng.below(3) == 0 ? 8 : 3));
  } else if (kind < 8) {
    out.gpus = rng.below(4) == 0 ? 2 : 1;
    out.shared = true;
    out.core = percent();
    out.ratio = percent();
    if (rng.below(3) == 0) out.bytes = 1 + static_cast<int>(rng.below(70));
  }
  if (out.gpus > 0 && rng.below(4) == 0) out.scope = 2 + static_cast<int>(rng.below(2));
  if (out.gpus > 0 && rng.below(8) == 0) out.own = true;
  if (out.gpus == 0 || rng.below(3) == 0) {
    out.nics = 1 + static_cast<int>(rng.below(3));
    out.functions = rng.below(2) == 0;
    out.joint = rng.below(2) == 0;
    out.samePcie = out.joint && rng.below(2) == 0;
  }
  if (rng.below(3) == 0) {
    out.numa.emplace();
    for (int node = 0; node < 2; node++)
      if (rng.below(2) == 0) out.numa->insert(node);
  }
  out.most = rng.below(2) == 0;
  return out;
}

// The same wish as a pod spells it.
DeviceWish wishOf(const CardsWanted& wanted) {
  Amounts total;
  const auto set = [&](std::string_view name, int64_t amount) {
    total.set(Interned(name), amount);
  };
  if (wanted.gpus > 0) {
    set("koordinator.sh/gpu-core", wanted.core * wanted.gpus);
    if (wanted.bytes > 0)
      set("koordinator.sh/gpu-memory", (int64_t{wanted.bytes} << 30) * wanted.gpus);
    else
      set("koordinator.sh/gpu-memory-ratio", wanted.ratio * wanted.gpus);
    if (wanted.shared) set("koordinator.sh/gpu.shared", wanted.gpus);
  }
  if (wanted.nics > 0) set("koordinator.sh/rdma", wanted.nics);
  std::vector<std::string> hints;
  std::vector<std::string> gpu, nic = {R"("allocateStrategy":"RequestsAsCount")"};
  if (wanted.scope > 0)
    gpu.push_back(
        fmt::format(R"("requiredTopologyScope":"{}")", wanted.scope == 3 ? "PCIe" : "NUMANode"));
  if (wanted.own) gpu.emplace_back(R"("exclusivePolicy":"PCIeLevel")");
  if (wanted.functions) nic.emplace_back(R"("vfSelector":{"matchLabels":{"type":"general"}})");
  api::Annotations pod;
  pod.set(api::annotation::kDeviceAllocateHint,
          fmt::format(R"({{"gpu":{{{}}},"rdma":{{{}}}}})", join(gpu, ","), join(nic, ",")));
  if (wanted.joint)
    pod.set(api::annotation::kDeviceJointAllocate,
            wanted.samePcie ? R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})"
                            : R"({"deviceTypes":["gpu","rdma"]})");
  auto wish = deviceWish(total, pod);
  CHECK(wish.has_value(), "{}", wish.error().text());
  return std::move(*wish);
}

std::string textOf(const api::DeviceAllocations& given) {
  std::vector<std::string> types;
  for (const auto& [type, list] : given) {
    std::string text = type;
    for (const auto& one : list) {
      text += fmt::format(" {}", one.minor);
      if (one.extension)
        for (const auto& function : one.extension->vfs) text += fmt::format("({})", function.busId);
    }
    types.push_back(text);
  }
  return join(types, "; ");
}

// One box with a history; how many questions had an answer.
class History {
 public:
  History(uint64_t seed) : rng_(seed), box_(boxOf(rng_)) {
    EXPECT_TRUE(book_.report(&box_.device, box_.labels));
  }

  // False: the two disagree.
  bool step(int number) {
    if (!held_.empty() && rng_.below(3) == 0) leave();
    const CardsWanted wanted = wantedOf(rng_);
    const DeviceWish wish = wishOf(wanted);
    AllocationTerms terms;
    terms.order = wanted.most ? CardOrder::kMostAllocated : CardOrder::kLeastAllocated;
    if (wanted.numa) terms.numaNodes.emplace(wanted.numa->begin(), wanted.numa->end());
    const AllocatedDevices got = allocateDevices(book_.devices(), wish, terms);
    const std::string fast = got ? textOf(annotationOf(*got)) : "no";
    const std::string slow =
        oracle::chooseCards(box_.device, box_.halves, box_.honor, held_, wanted);
    EXPECT_EQ(fast, slow) << (got ? "" : got.error().reason);
    if (fast != slow || !got) return fast == slow;
    placed++;
    const api::Uid uid(fmt::format("00000000-0000-4000-8000-{:012x}", number + 1));
    held_.push_back(annotationOf(*got));
    uids_.push_back(uid);
    book_.hold(uid, heldOf(held_.back()));
    EXPECT_TRUE(book_.quarrels().empty());
    return true;
  }
  int placed = 0;

 private:
  void leave() {
    const size_t at = rng_.below(held_.size());
    book_.release(uids_[at]);
    held_.erase(held_.begin() + static_cast<long>(at));
    uids_.erase(uids_.begin() + static_cast<long>(at));
  }

  Rng rng_;
  Box box_;
  DeviceBook book_;
  std::vector<api::DeviceAllocations> held_;
  std::vector<api::Uid> uids_;
};

TEST(DeviceOracle, agrees_minor_by_minor) {
  const int wanted = sized(3000, 100000);
  int placed = 0, asked = 0;
  for (uint64_t seed = 1; placed < wanted; seed++) {
    History history(seed);
    for (int i = 0; i < 40; i++, asked++)
      ASSERT_TRUE(history.step(i)) << "seed " << seed << " step " << i;
    placed += history.placed;
  }
  EXPECT_GT(placed, asked / 5);  // most of it is not about refusals
}

}  // namespace
}  // namespace mangrove::placement
