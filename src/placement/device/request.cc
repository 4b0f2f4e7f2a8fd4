#include "placement/device/request.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

namespace resource = api::resource;

// A set of GPU names as bits, so that a combination is one number.
enum GpuName : uint32_t {
  kNvidia = 1,
  kAmd = 2,
  kDcu = 4,
  kPercent = 8,
  kShared = 16,
  kCore = 32,
  kMemory = 64,
  kRatio = 128,
  kNpuCore = 256,
  kNpuCpu = 512,
  kNpuDvpp = 1024,
};

struct Spelling {
  GpuName bit;
  Interned name;
};

const std::array<Spelling, 11>& spellings() {
  static const std::array<Spelling, 11> kAll = {{
      {kNvidia, Interned(resource::kNvidiaGpu)},
      {kAmd, Interned(resource::kAmdGpu)},
      {kDcu, Interned(resource::kHygonDcu)},
      {kPercent, Interned(resource::kGpu)},
      {kShared, Interned(resource::kGpuShared)},
      {kCore, Interned(resource::kGpuCore)},
      {kMemory, Interned(resource::kGpuMemory)},
      {kRatio, Interned(resource::kGpuMemoryRatio)},
      {kNpuCore, Interned(resource::kHuaweiNpuCore)},
      {kNpuCpu, Interned(resource::kHuaweiNpuCpu)},
      {kNpuDvpp, Interned(resource::kHuaweiNpuDvpp)},
  }};
  return kAll;
}

Interned nameOf(GpuName bit) {
  for (const Spelling& one : spellings())
    if (one.bit == bit) return one.name;
  return {};
}

int64_t amountOf(const Amounts& asked, GpuName bit) {
  return asked.amount(nameOf(bit));
}

uint32_t namesIn(const Amounts& gpu) {
  uint32_t out = 0;
  for (const Spelling& one : spellings())
    if (gpu.has(one.name)) out |= one.bit;
  return out;
}

enum class Form { kNone, kCards, kPercent, kPlain, kShared, kNpuTemplate };

Form formOf(uint32_t names) {
  switch (names) {
    case kNvidia:
    case kAmd:
    case kDcu:
      return Form::kCards;
    case kPercent:
      return Form::kPercent;
    case kMemory:
    case kRatio:
    case kCore | kMemory:
    case kCore | kRatio:
    case kNpuCore | kRatio:
      return Form::kPlain;
    case kShared | kMemory:
    case kShared | kRatio:
    case kShared | kCore | kMemory:
    case kShared | kCore | kRatio:
      return Form::kShared;
    case kShared | kNpuCore | kNpuCpu | kMemory:
    case kShared | kNpuCore | kNpuCpu | kNpuDvpp | kMemory:
      return Form::kNpuTemplate;
    default:
      return Form::kNone;
  }
}

// Part of one card, or whole cards.
bool wholeOrPart(int64_t percent) {
  return percent <= 100 || percent % 100 == 0;
}

std::string wrongPercent(Interned name, int64_t percent) {
  return fmt::format("{} is {}; want at most 100 or a multiple of 100", name.view(), percent);
}

// Empty: the values go together.
std::string wrongPlain(const Amounts& gpu) {
  for (GpuName bit : {kCore, kRatio})
    if (const int64_t percent = amountOf(gpu, bit); !wholeOrPart(percent))
      return wrongPercent(nameOf(bit), percent);
  return {};
}

std::string wrongShared(const Amounts& gpu) {
  const int64_t cards = amountOf(gpu, kShared);
  for (GpuName bit : {kCore, kRatio})
    if (const int64_t percent = amountOf(gpu, bit); percent % cards != 0 || percent / cards > 100)
      return fmt::format("{} is {}; want a multiple of {} ({}) with at most 100 on each card",
                         nameOf(bit).view(), percent, resource::kGpuShared, cards);
  return {};
}

std::string wrongTemplate(const Amounts& gpu) {
  if (const int64_t cards = amountOf(gpu, kShared); cards != 1)
    return fmt::format("{} is {}; an NPU is shared one card at a time, want 1",
                       resource::kGpuShared, cards);
  if (const int64_t percent = amountOf(gpu, kNpuDvpp); percent > 100)
    return fmt::format("{} is {}; want at most 100", resource::kHuaweiNpuDvpp, percent);
  return {};
}

std::string wrongCombination(const Amounts& gpu, Form form) {
  switch (form) {
    case Form::kNone:
      return fmt::format(
          "{} do not make a GPU request; want cards of one vendor, {}, or {} or {} with what goes "
          "with them",
          textOf(gpu), resource::kGpu, resource::kGpuMemoryRatio, resource::kGpuMemory);
    case Form::kPlain:
      return wrongPlain(gpu);
    case Form::kShared:
      return wrongShared(gpu);
    case Form::kNpuTemplate:
      return wrongTemplate(gpu);
    default:
      return {};
  }
}

Amounts percentOfCards(int64_t percent) {
  Amounts out;
  out.set(deviceNames().core, percent);
  out.set(deviceNames().ratio, percent);
  return out;
}

Amounts normalised(const Amounts& gpu, Form form) {
  constexpr int64_t kMostCards = std::numeric_limits<int64_t>::max() / 100;
  const int64_t first = gpu.begin()->amount;
  if (form == Form::kCards) return percentOfCards(100 * std::min(first, kMostCards));
  return form == Form::kPercent ? percentOfCards(first) : gpu;
}

int64_t cardsOf(const Amounts& gpu) {
  if (const int64_t shared = amountOf(gpu, kShared); shared > 0) return shared;
  const int64_t ratio = amountOf(gpu, kRatio);
  return ratio > 100 && ratio % 100 == 0 ? ratio / 100 : 1;
}

GpuShare shareOf(const Amounts& gpu) {
  GpuShare out;
  out.count = cardsOf(gpu);
  const bool byRatio = gpu.has(deviceNames().ratio);
  for (const auto& [name, total] : gpu)
    if (name != nameOf(kShared)) out.perGpu.set(name, total / out.count);
  out.shared = !byRatio || out.perGpu.amount(deviceNames().ratio) < 100;
  return out;
}

Amounts masked(const Amounts& total, std::initializer_list<Interned> names) {
  Amounts out;
  for (Interned name : names)
    if (const int64_t amount = total.amount(name); amount != 0) out.set(name, amount);
  return out;
}

Amounts gpuPart(const Amounts& total) {
  Amounts out;
  for (const Spelling& one : spellings())
    if (const int64_t amount = total.amount(one.name); amount != 0) out.set(one.name, amount);
  return out;
}

DeviceReading refused(DeviceFault fault, std::string message) {
  return {{}, DeviceRefusal{fault, std::move(message)}};
}

}  // namespace

const DeviceNames& deviceNames() {
  static const DeviceNames kNames{Interned(resource::kGpuCore), Interned(resource::kGpuMemory),
                                  Interned(resource::kGpuMemoryRatio), Interned(resource::kRdma),
                                  Interned(resource::kFpga)};
  return kNames;
}

DeviceReading readDeviceRequest(const Amounts& podTotal) {
  const DeviceNames& names = deviceNames();
  for (Interned name : {nameOf(kPercent), names.rdma, names.fpga})
    if (const int64_t percent = podTotal.amount(name); !wholeOrPart(percent))
      return refused(DeviceFault::kUnit, wrongPercent(name, percent));
  DeviceReading out;
  auto& byType = out.request.byType;
  if (const Amounts gpu = gpuPart(podTotal); !gpu.empty()) {
    const Form form = formOf(namesIn(gpu));
    if (std::string wrong = wrongCombination(gpu, form); !wrong.empty())
      return refused(DeviceFault::kCombination, std::move(wrong));
    const Amounts& plain = byType.emplace(device_type::kGpu, normalised(gpu, form)).first->second;
    out.request.gpu = shareOf(plain);
  }
  if (Amounts rdma = masked(podTotal, {names.rdma}); !rdma.empty())
    byType.emplace(device_type::kRdma, std::move(rdma));
  if (Amounts fpga = masked(podTotal, {names.fpga}); !fpga.empty())
    byType.emplace(device_type::kFpga, std::move(fpga));
  return out;
}

}  // namespace mangrove::placement
