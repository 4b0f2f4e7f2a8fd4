#pragma once
// What strategies want. A wish names a control file and a part of its value; the executor composes
// the parts of all owners: the base of the first owner in the file's precedence, times all scales,
// cut by all caps and masks. So normalisation, burst and suppression share one quota without
// fighting.
//
//   Wishes out;
//   out.values.push_back({cgroup, "cpu.cfs_quota_us", Part::base(FileValue::of(50000)), "…"});
//
// Values; any thread.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/core_cookies.h"
#include "agent/executor/net_plan.h"
#include "agent/executor/value.h"
#include "api/pod/pod.h"

namespace mangrove::agent {

struct Part {
  enum class Kind : uint8_t { kBase, kScale, kCap, kMask };
  Kind kind = Kind::kBase;
  FileValue value = {};
  double factor = 1;

  static Part base(FileValue value) { return {Kind::kBase, std::move(value), 1}; }
  static Part scale(double factor) { return {Kind::kScale, {}, factor}; }
  static Part cap(int64_t most) { return {Kind::kCap, FileValue::of(most), 1}; }
  static Part mask(CpuSet cpus) { return {Kind::kMask, FileValue::of(std::move(cpus)), 1}; }
};

struct Wish {
  std::string cgroup;         // relative to the hierarchy
  std::string_view resource;  // v1 name, a literal
  Part part;
  std::string why;
  std::string entry = {};  // of a file with several: a device, a line, a word
  // Nobody but us ever sets this file: what stands there when it is first wanted may be a reflex's
  // cut of a moment earlier, or a predecessor's, and is nothing to go back to.
  bool ours = false;
  // What a reflex found in the file before it narrowed it: that is what to go back to.
  std::optional<FileValue> before = {};
};

// A pod that a strategy wants gone.
struct Ousting {
  std::shared_ptr<const api::Pod> pod;
  std::string_view feature;  // "BEMemoryEvict"
  std::string why;
  int64_t expected = 0;               // what it frees, in the feature's unit
  std::optional<int64_t> grace = {};  // seconds; nullopt: its own
};

// A resctrl group with these threads in it.
struct GroupWish {
  std::string path;  // below the machine's root
  std::vector<int> tasks;
  std::string why;
};

struct Wishes {
  std::vector<Wish> values = {};
  std::vector<Ousting> evictions = {};
  // What is no file: executor/deeds.h.
  std::vector<GroupWish> groups = {};
  std::vector<CookieWish> cookies = {};
  std::optional<NetPlan> network = {};
  // Something runs short, whether or not anybody can be evicted for it.
  bool trouble = false;
  // Nothing could be measured for so long that a limit is in force which is safe without knowing.
  bool blind = false;
  // Nothing could be decided: what was wanted last stays.
  bool hold = false;
  std::string note = {};  // why it is so, for `explain`

  static Wishes holding(std::string note) {
    Wishes out;
    out.hold = true;
    out.note = std::move(note);
    return out;
  }
  void base(std::string cgroup, std::string_view resource, FileValue value, std::string why) {
    values.push_back({std::move(cgroup), resource, Part::base(std::move(value)), std::move(why)});
  }
  void entry(std::string cgroup, std::string_view resource, std::string entry, FileValue value,
             std::string why) {
    values.push_back({std::move(cgroup), resource, Part::base(std::move(value)), std::move(why),
                      std::move(entry)});
  }
};

struct OwnedWish {
  std::string_view owner;
  const Wish* wish = nullptr;
  bool dryRun = false;
  // Files that the owner says it wants (StrategyInfo::files), besides those whose rule names it.
  std::span<const std::string_view> files = {};
};
bool mayWant(const FileRule& rule, const OwnedWish& one);

struct Composed {
  FileValue value;
  std::string owner;  // of the base, or all caps' when there is none
  std::string why;    // of every part, "; " between them
};
// nullopt: parts that make no value (a scale alone). All wishes are for one file and its rule.
std::optional<Composed> compose(const FileRule& rule, std::span<const OwnedWish> wishes);

}  // namespace mangrove::agent
