#include "agent/executor/value.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/executor/plain_file.h"
#include "base/text/strings.h"
#include "kernel/cpu_units.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using kernel::CgroupVersion;

constexpr std::string_view kQuotaOwners[] = {
    owner::kFailSafe,      owner::kPressure, owner::kCpuSuppress,  owner::kCpusetHook,
    owner::kBatchResource, owner::kCpuBurst, owner::kNormalization};
constexpr std::string_view kBurstOwners[] = {owner::kCpuBurst};
constexpr std::string_view kIdleOwners[] = {owner::kCoreSched, owner::kKernelFloor,
                                            owner::kGroupIdentity};
constexpr std::string_view kSharesOwners[] = {owner::kBatchResource, owner::kKernelFloor,
                                              owner::kGroupIdentity};
constexpr std::string_view kIdentityOwners[] = {owner::kGroupIdentity};
constexpr std::string_view kCpusetOwners[] = {owner::kCpuSuppress, owner::kCpusetHook};
constexpr std::string_view kLimitOwners[] = {owner::kGiveBack, owner::kBatchResource};
constexpr std::string_view kGiveBackOwners[] = {owner::kGiveBack};
constexpr std::string_view kProtectOwners[] = {owner::kMemoryQos};
constexpr std::string_view kFloorMemoryOwners[] = {owner::kMemoryQos, owner::kKernelFloor};
constexpr std::string_view kHighOwners[] = {owner::kGiveBack, owner::kMemoryQos};
constexpr std::string_view kBlkioOwners[] = {owner::kBlkio};
constexpr std::string_view kIoWeightOwners[] = {owner::kInterference, owner::kBlkio,
                                                owner::kKernelFloor};
constexpr std::string_view kNetOwners[] = {owner::kNetworkQos};
constexpr std::string_view kTerwayOwners[] = {owner::kTerwayQos};
constexpr std::string_view kSystemOwners[] = {owner::kSystemConfig, owner::kColdScan};
constexpr std::string_view kSwitchOwners[] = {owner::kGroupIdentity, owner::kCoreSched,
                                              owner::kSystemConfig};
constexpr std::string_view kSchemataOwners[] = {owner::kPodResctrl, owner::kResctrl};
constexpr std::string_view kScoreOwners[] = {owner::kOomScore};

using enum ValueKind;
using enum Place;
using enum Section;
constexpr int64_t kLeastNumber = std::numeric_limits<int64_t>::min();

// A line per disk; `absent` is what a disk without one has.
constexpr FileRule perDevice(std::string_view resource, std::string_view absent,
                             std::span<const std::string_view> owners = kBlkioOwners) {
  return {
      .resource = resource, .kind = kText, .owners = owners, .section = kDevice, .absent = absent};
}

constexpr FileRule kRules[] = {
    {kernel::resource_name::kCpuQuota, kQuota, 1000, kUnlimited, true, kUnlimited, kQuotaOwners},
    {kernel::resource_name::kCpuBurst, kNumber, 0, 100'000'000, false, 0, kBurstOwners},
    {kernel::resource_name::kCpuIdle, kNumber, 0, 1, false, 0, kIdleOwners},
    {kernel::resource_name::kCpuShares,
     kShares,
     kernel::kMinShares,
     kernel::kMaxShares,
     false,
     {},
     kSharesOwners},
    {kernel::resource_name::kGroupIdentity, kNumber, -1, 2, false, 0, kIdentityOwners},
    {kernel::resource_name::kCpuset, kCpus, 0, kUnlimited, true, {}, kCpusetOwners},
    {kernel::resource_name::kMemoryLimit, kBytes, 0, kUnlimited, true, kUnlimited, kLimitOwners},
    {kernel::resource_name::kMemoryMin, kBytes, 0, kUnlimited, true, 0, kProtectOwners},
    {kernel::resource_name::kMemoryLow, kBytes, 0, kUnlimited, true, 0, kFloorMemoryOwners},
    {kernel::resource_name::kMemoryHigh, kBytes, 0, kUnlimited, true, kUnlimited, kHighOwners},
    {kernel::resource_name::kWmarkRatio, kNumber, 0, 100, false, 0, kProtectOwners},
    {kernel::resource_name::kWmarkScale, kNumber, 1, 1000, false, 50, kProtectOwners},
    {kernel::resource_name::kWmarkMinAdj, kNumber, -25, 50, false, 0, kProtectOwners},
    {kernel::resource_name::kMemoryPriority, kNumber, 0, 12, false, 0, kProtectOwners},
    {kernel::resource_name::kPriorityOom, kNumber, 0, 1, false, 0, kProtectOwners},
    {kernel::resource_name::kOomGroup, kNumber, 0, 1, false, 0, kFloorMemoryOwners},
    {kernel::resource_name::kPageCacheEnable, kNumber, 0, 1, false, 0, kProtectOwners},
    {kernel::resource_name::kPageCacheSize, kNumber, 0, kUnlimited, false, 0, kProtectOwners},
    {kernel::resource_name::kPageCacheSync, kNumber, 0, 1, false, 0, kProtectOwners},
    perDevice(kernel::resource_name::kReadIops, "0"),
    perDevice(kernel::resource_name::kReadBps, "0"),
    perDevice(kernel::resource_name::kWriteIops, "0"),
    perDevice(kernel::resource_name::kWriteBps, "0"),
    perDevice(kernel::resource_name::kBlkioCostWeight, "100"),
    perDevice(kernel::resource_name::kBlkioCostQos, "enable=0"),
    perDevice(kernel::resource_name::kBlkioCostModel, "ctrl=auto"),
    perDevice(kernel::resource_name::kIoMax, "rbps=max wbps=max riops=max wiops=max"),
    perDevice(kernel::resource_name::kIoWeight, "100", kIoWeightOwners),
    perDevice(kernel::resource_name::kIoBfqWeight, "100", kIoWeightOwners),
    {kernel::resource_name::kBlkioBfqWeight, kNumber, 1, 1000, false, 100, kIoWeightOwners},
    perDevice(kernel::resource_name::kIoLatency, "target=max"),
    perDevice(kernel::resource_name::kIoCostQos, "enable=0"),
    perDevice(kernel::resource_name::kIoCostModel, "ctrl=auto"),
    {"parameter", kNumber, kLeastNumber, kUnlimited, false, {}, kSystemOwners, kPath},
    {"switch", kNumber, 0, 1, false, {}, kSwitchOwners, kPath},
    {"sched_features", kNumber, 0, 1, false, {}, kSystemOwners, kPath, kWord},
    {"schemata", kText, 0, kUnlimited, false, {}, kSchemataOwners, kPath, kLine},
    {"oom_score_adj", kNumber, -1000, 1000, false, {}, kScoreOwners, kPath},
    {kPlainFile, kText, 0, kUnlimited, false, 0, kTerwayOwners, kPath},
    {kernel::resource_name::kCgroupFreeze, kNumber, 0, 1, false, 0, kGiveBackOwners},
    {kernel::resource_name::kMemoryReclaim, kBytes, 0, kUnlimited, false, {}, kGiveBackOwners},
    {kernel::resource_name::kNetClass, kNumber, 0, 0xffffffff, false, 0, kNetOwners},
};

// v1 shows "no limit" as the largest number of whole pages.
constexpr int64_t kV1Unlimited = 0x7FFFFFFFFFFFF000;

bool hasNoLimit(ValueKind kind) {
  return kind == kQuota || kind == kBytes;
}

Result<int64_t> parseNumber(const FileRule& rule, std::string_view text) {
  auto number = parseInt<int64_t>(text);
  if (!number) return invalid("{}: found '{}', want a number", rule.resource, text);
  return *number;
}

Result<int64_t> parseLimit(const FileRule& rule, std::string_view text) {
  if (text == "max") return kUnlimited;
  auto number = parseNumber(rule, text);
  if (!number) return number;
  return *number < 0 || *number >= kV1Unlimited ? kUnlimited : *number;
}

// The fewest shares that give this weight, so that what was written reads back as itself.
Result<int64_t> smallestShares(int64_t weight) {
  auto shares = kernel::sharesOfWeight(weight);
  if (shares && kernel::weightOfShares(*shares).value_or(weight) < weight) return *shares + 1;
  return shares;
}

}  // namespace

std::span<const FileRule> fileRules() {
  return kRules;
}

const FileRule* ruleOf(std::string_view resource) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const FileRule& r) { return r.resource == resource; });
  return found == std::end(kRules) ? nullptr : found;
}

std::optional<size_t> rankOf(const FileRule& rule, std::string_view owner) {
  auto found = std::find(rule.owners.begin(), rule.owners.end(), owner);
  if (found == rule.owners.end()) return std::nullopt;
  return static_cast<size_t>(found - rule.owners.begin());
}

std::string formatValue(const FileRule& rule, const FileValue& value, CgroupVersion version) {
  if (rule.kind == kCpus) return value.cpus.text();
  if (rule.kind == kText) return value.text;
  if (hasNoLimit(rule.kind)) return value.quota().text(version);
  if (rule.kind == kShares) return kernel::sharesText(value.number, version);
  return std::to_string(value.number);
}

namespace {

std::string_view lineAfter(std::string_view text, std::string_view start) {
  for (std::string_view line : split(text, '\n'))
    if (trim(line).starts_with(start)) return trim(trim(line).substr(start.size()));
  return {};
}

std::optional<std::string> wordOf(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n'))
    for (std::string_view word : splitTrimmed(line, ' ')) {
      if (word == name) return "1";
      if (word.starts_with("NO_") && word.substr(3) == name) return "0";
    }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> sectionOf(const FileRule& rule, std::string_view text,
                                     std::string_view entry) {
  switch (rule.section) {
    case kWhole:
      return std::string(text);
    case kWord:
      return wordOf(text, entry);
    case kDevice: {
      const std::string_view found = lineAfter(text, std::string(entry) + " ");
      return std::string(found.empty() ? rule.absent : found);
    }
    case kLine: {
      std::string_view found = lineAfter(text, std::string(entry) + ":");
      if (found.empty()) return std::nullopt;
      while (found.ends_with(';')) found.remove_suffix(1);
      return std::string(found);
    }
  }
  return std::nullopt;
}

std::string formatEntry(const FileRule& rule, std::string_view entry, const FileValue& value,
                        CgroupVersion version) {
  const std::string text = formatValue(rule, value, version);
  switch (rule.section) {
    case kDevice:
      return fmt::format("{} {}", entry, text);
    case kLine:
      return fmt::format("{}:{}\n", entry, text);
    case kWord:
      return fmt::format("{}{}", value.number == 1 ? "" : "NO_", entry);
    case kWhole:
      break;
  }
  return text;
}

std::string showValue(const FileRule& rule, const FileValue& value) {
  if (rule.resource == kPlainFile) return shortened(value.text);
  return formatValue(rule, value, CgroupVersion::kV1);
}

Result<FileValue> parseValue(const FileRule& rule, std::string_view text, CgroupVersion version) {
  text = trim(text);
  if (rule.kind == kText) return FileValue::ofText(std::string(text));
  if (rule.kind == kCpus) {
    auto cpus = CpuSet::parse(text);
    if (!cpus) return cpus.error().in("{}", rule.resource);
    return FileValue::of(*std::move(cpus));
  }
  // cpu.max has the period behind the quota.
  if (rule.kind == kQuota) text = text.substr(0, text.find(' '));
  auto number = hasNoLimit(rule.kind) ? parseLimit(rule, text) : parseNumber(rule, text);
  if (!number) return pass(number.error());
  if (rule.kind == kShares && version == CgroupVersion::kV2) number = smallestShares(*number);
  if (!number) return number.error().in("{}", rule.resource);
  return FileValue::of(*number);
}

namespace {

// Words in any order, "0=00f" as "0=f": kernels print them their own way.
std::vector<std::string> wordsOf(std::string_view text, char between) {
  std::vector<std::string> out;
  for (std::string_view word : splitTrimmed(text, between)) {
    if (word.empty()) continue;
    const auto halves = cut(word, '=');
    std::string_view value = trim(halves.after);
    while (between == ';' && value.size() > 1 && value.front() == '0') value.remove_prefix(1);
    out.push_back(halves.found ? fmt::format("{}={}", trim(halves.before), value)
                               : std::string(word));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// What we said is there, whatever the kernel adds of its own ("min=1.00 max=100.00").
bool holdsAll(const FileRule& rule, std::string_view has, std::string_view said) {
  const char between = rule.section == kLine ? ';' : ' ';
  const auto a = wordsOf(has, between), b = wordsOf(said, between);
  if (b.empty()) return a.empty();
  return std::includes(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

bool sameValue(const FileRule& rule, const FileValue& a, const FileValue& b,
               CgroupVersion version) {
  if (a == b) return true;
  if (rule.section == kDevice || rule.section == kLine)
    return holdsAll(rule, a.text, b.text) || holdsAll(rule, b.text, a.text);
  return rule.kind == kShares && formatValue(rule, a, version) == formatValue(rule, b, version);
}

bool isWider(const FileRule& rule, const FileValue& a, const FileValue& b) {
  if (rule.kind == kCpus) return !a.cpus.isSubsetOf(b.cpus);
  return a.number > b.number;
}

FileValue widest(const FileRule& rule, const FileValue& a, const FileValue& b) {
  if (rule.kind == kCpus) return FileValue::of(a.cpus | b.cpus);
  return a.number >= b.number ? a : b;
}

Result<FileValue> checkedValue(const FileRule& rule, FileValue value) {
  if (rule.kind == kText) return value;
  if (rule.kind == kCpus) {
    if (value.cpus.empty()) return invalid("{}: no CPU at all, want at least one", rule.resource);
    return value;
  }
  if (rule.kind == kQuota || rule.kind == kShares)
    value.number = std::clamp(value.number, rule.least, rule.most);
  if (value.number < rule.least || value.number > rule.most)
    return invalid("{}: {} is out of range, want {} to {}", rule.resource, value.number, rule.least,
                   rule.most);
  return value;
}

}  // namespace mangrove::agent
