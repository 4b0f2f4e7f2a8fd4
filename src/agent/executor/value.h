#pragma once
// What a control file holds, free of cgroup versions: a number, a set of CPUs or a text. Each file
// has one rule that says how its value is written, what is allowed, and who may want it.
//
//   const FileRule* rule = ruleOf("cpu.cfs_quota_us");
//   formatValue(*rule, FileValue::of(kUnlimited), CgroupVersion::kV2)      // "max"
//   parseValue(*rule, "max 100000", CgroupVersion::kV2)                    // kUnlimited
//
// Pure functions and values, any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/number/cpu_set.h"
#include "base/result.h"
#include "kernel/cgroup_version.h"
#include "kernel/cpu_quota.h"

namespace mangrove::agent {

// Of every file that limits something, as of quotas: "-1" of v1, "max" of v2, 9223372036854775807 of
// memory.high.
inline constexpr int64_t kUnlimited = kernel::CpuQuota::none().us();

struct FileValue {
  int64_t number = 0;
  CpuSet cpus = {};
  std::string text = {};

  static FileValue of(int64_t number) { return {number, {}, {}}; }
  static FileValue of(kernel::CpuQuota quota) { return {quota.us(), {}, {}}; }
  static FileValue of(CpuSet cpus) { return {0, std::move(cpus), {}}; }
  static FileValue ofText(std::string text) { return {0, {}, std::move(text)}; }
  kernel::CpuQuota quota() const { return kernel::CpuQuota::ofUs(number); }
  bool operator==(const FileValue&) const = default;
};

enum class ValueKind : uint8_t {
  kQuota,   // microseconds; kUnlimited is "-1" or "max"
  kShares,  // v1 shares; v2 has weights
  kBytes,   // kUnlimited is "-1" or "max"
  kNumber,
  kCpus,
  kText,
};

// Where a file is.
enum class Place : uint8_t {
  kCgroup,  // in a cgroup, under the name that kernel/control_files.h knows
  kPath,    // anywhere: a wish's cgroup is the path below the machine's root
};

// Which part of a file a wish is about; the others are none of its business.
enum class Section : uint8_t {
  kWhole,
  kDevice,  // a line "8:0 …"; the entry is the device's number
  kLine,    // a line "L3:…"; the entry is what stands before the colon
  kWord,    // NAME or NO_NAME among others; the entry is NAME, the value 1 or 0
};

struct FileRule {
  std::string_view resource;  // the v1 name, as kernel/control_files.h knows it
  ValueKind kind = ValueKind::kNumber;
  int64_t least = 0;
  int64_t most = kUnlimited;
  // A child's value must lie within its parent's at every moment: widen from the top, narrow from
  // the bottom.
  bool nested = false;
  std::optional<int64_t> neutral = {};  // what an unmanaged machine has
  // Who may want this file; of two bases the earlier owner's counts. A strategy that names the file
  // in its info comes after these.
  std::span<const std::string_view> owners = {};
  Place place = Place::kCgroup;
  Section section = Section::kWhole;
  std::string_view absent = {};  // the value of an entry that the file does not have
};

// In the order in which the files of one cgroup are written: quota before burst, idle before
// shares.
std::span<const FileRule> fileRules();
const FileRule* ruleOf(std::string_view resource);  // nullptr: not a file we write
// The place of an owner in a file's precedence, 0 first; nullopt: the rule does not name it.
std::optional<size_t> rankOf(const FileRule& rule, std::string_view owner);

std::string formatValue(const FileRule& rule, const FileValue& value,
                        kernel::CgroupVersion version);
Result<FileValue> parseValue(const FileRule& rule, std::string_view text,
                             kernel::CgroupVersion version);
// The part of a file's text that an entry is about; nullopt: the file does not know the entry.
std::optional<std::string> sectionOf(const FileRule& rule, std::string_view text,
                                     std::string_view entry);
// What to write so that the entry, and nothing else, gets the value.
std::string formatEntry(const FileRule& rule, std::string_view entry, const FileValue& value,
                        kernel::CgroupVersion version);
// For people and the audit log: as v1 would write it.
std::string showValue(const FileRule& rule, const FileValue& value);

// As the kernel will read it back: under v2 shares come back rounded to a weight.
bool sameValue(const FileRule& rule, const FileValue& a, const FileValue& b,
               kernel::CgroupVersion version);
// True when `a` allows something that `b` does not.
bool isWider(const FileRule& rule, const FileValue& a, const FileValue& b);
// What allows both.
FileValue widest(const FileRule& rule, const FileValue& a, const FileValue& b);
// Within the kernel's range: quotas are raised to the least, anything else out of range is an error
// that says what would be right.
Result<FileValue> checkedValue(const FileRule& rule, FileValue value);

}  // namespace mangrove::agent
