#include "manager/webhook/pod/dialect.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "json/view.h"

namespace mangrove::manager {
namespace {

using api::Qos;

constexpr std::string_view kVolcanoLevel = "volcano.sh/qos-level";
constexpr std::string_view kPreemptable = "volcano.sh/preemptable";

class Keys {
 public:
  Keys(const api::Labels& labels, const api::Annotations& annotations)
      : labels_(labels), annotations_(annotations) {}
  std::string_view get(std::string_view key) const {
    if (auto value = annotations_.get(key)) return *value;
    return labels_.get(key).value_or("");
  }

 private:
  const api::Labels& labels_;
  const api::Annotations& annotations_;
};

// Enhancements are JSON objects of texts; an unreadable one enhances nothing.
bool enhanced(std::string_view text, std::string_view member) {
  if (text.empty()) return false;
  api::TextDoc doc;
  auto view = doc.parse(text);
  return view && (*view)[member].string() == "true";
}

bool isExclusive(const Keys& keys) {
  const std::string_view memory = keys.get(katalyst::kMemory);
  const std::string_view cpu = keys.get(katalyst::kCpu);
  return enhanced(memory, "numa_exclusive") || enhanced(cpu, "numa_exclusive") ||
         enhanced(cpu, "exclusive_cpus");
}

Qos ofKatalyst(const Keys& keys) {
  const std::string_view level = keys.get(katalyst::kLevel);
  if (level == "system_cores") return Qos::kSystem;
  if (level == "dedicated_cores") return isExclusive(keys) ? Qos::kLse : Qos::kLsr;
  if (level == "shared_cores") return Qos::kLs;
  return level == "reclaimed_cores" ? Qos::kBe : Qos::kNone;
}

Qos ofVolcano(const Keys& keys) {
  const std::string_view level = keys.get(kVolcanoLevel);
  if (level == "LC") return Qos::kLse;
  if (level == "HLS") return Qos::kLsr;
  if (level == "LS") return Qos::kLs;
  return level == "BE" ? Qos::kBe : Qos::kNone;
}

// Higher is more protected.
int rankOf(Qos qos) {
  switch (qos) {
    case Qos::kSystem:
      return 5;
    case Qos::kLse:
      return 4;
    case Qos::kLsr:
      return 3;
    case Qos::kLs:
      return 2;
    case Qos::kBe:
      return 1;
    case Qos::kNone:
      break;
  }
  return 0;
}

struct Said {
  std::string_view key, word;
  Qos qos;
  bool orHigher = false;  // preemptable=false is said of every class above BE
};

std::vector<Said> whatIsSaid(const Keys& keys) {
  std::vector<Said> said;
  if (Qos qos = ofKatalyst(keys); qos != Qos::kNone)
    said.push_back({katalyst::kLevel, keys.get(katalyst::kLevel), qos});
  if (Qos qos = ofVolcano(keys); qos != Qos::kNone)
    said.push_back({kVolcanoLevel, keys.get(kVolcanoLevel), qos});
  const std::string_view preemptable = keys.get(kPreemptable);
  if (preemptable == "true") said.push_back({kPreemptable, preemptable, Qos::kBe});
  if (preemptable == "false") said.push_back({kPreemptable, preemptable, Qos::kLs, true});
  return said;
}

bool agrees(const Said& said, Qos highest) {
  return said.qos == highest || (said.orHigher && rankOf(said.qos) < rankOf(highest));
}

}  // namespace

DialectVerdict resolveDialects(const api::Labels& labels, const api::Annotations& annotations) {
  const std::vector<Said> said = whatIsSaid(Keys(labels, annotations));
  DialectVerdict out;
  for (const Said& one : said)
    if (rankOf(one.qos) > rankOf(out.qos)) out.qos = one.qos;
  std::vector<std::string> words;
  bool disagree = false;
  for (const Said& one : said) {
    words.push_back(fmt::format("{}={} means {}{}", one.key, one.word, api::qosName(one.qos),
                                one.orHigher ? " or higher" : ""));
    disagree |= !agrees(one, out.qos);
  }
  if (disagree)
    out.conflict =
        fmt::format("{}; the pod is treated as {}", join(words, ", "), api::qosName(out.qos));
  return out;
}

}  // namespace mangrove::manager
