#include "api/interference/policy.h"

#include <algorithm>

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kMarks{
    always<&InterferenceMarks::warn>("warn"),
    always<&InterferenceMarks::act>("act"),
};
static bool read(const In& in, InterferenceMarks& out) {
  return kMarks.read(in, out);
}
static json::Value toJson(const InterferenceMarks& value) {
  return kMarks.write(value);
}

static constexpr Schema kSpec{
    unlessUnset<&InterferencePolicySpec::selector>("selector"),
    unlessUnset<&InterferencePolicySpec::detectors>("detectors"),
    unlessUnset<&InterferencePolicySpec::thresholds>("thresholds"),
    unlessUnset<&InterferencePolicySpec::ladder>("ladder"),
    unlessUnset<&InterferencePolicySpec::pairs>("pairs"),
    unlessUnset<&InterferencePolicySpec::dryRun>("dryRun"),
};
bool read(const In& in, InterferencePolicySpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const InterferencePolicySpec& value) {
  return kSpec.write(value);
}

bool read(const In& in, InterferencePolicy& out) {
  static constexpr Fields fields{
      field<&InterferencePolicy::meta>("metadata"),
      field<&InterferencePolicy::spec>("spec"),
  };
  return fields.read(in, out);
}

namespace {

constexpr std::string_view kDetectors[] = {"gaussian", "cpi2", "pressure"};
constexpr std::string_view kThresholds[] = {"cpu", "memorySome", "memoryFull",
                                            "io",  "latency",    "network"};
constexpr std::string_view kRungs[] = {"L1", "L2", "L3",        "L4",        "L5",         "L6",
                                       "L7", "L8", "io-weight", "net-class", "memory-high"};
constexpr int32_t kLeastPairs = 5, kMostPairs = 30;

template <class Map, size_t N>
Result<> checkNames(const Map& said, const std::string_view (&known)[N], std::string_view what) {
  for (const auto& [name, value] : said)
    if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
      std::string all;
      for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
      return invalid("{} '{}': want one of {}", what, name, all);
    }
  return {};
}

}  // namespace

Result<> checkInterferencePolicy(const InterferencePolicySpec& spec) {
  if (auto ok = checkNames(spec.detectors, kDetectors, "detector"); !ok) return ok;
  if (auto ok = checkNames(spec.thresholds, kThresholds, "threshold"); !ok) return ok;
  if (auto ok = checkNames(spec.ladder, kRungs, "step"); !ok) return ok;
  for (const auto& [name, marks] : spec.thresholds)
    if (marks.warn < 0 || marks.act < marks.warn || marks.act <= 0)
      return invalid("threshold {}: warn {} and act {}: want 0 <= warn <= act and act above 0",
                     name, marks.warn, marks.act);
  if (spec.pairs != 0 && (spec.pairs < kLeastPairs || spec.pairs > kMostPairs))
    return invalid("pairs {}: want {} to {}; fewer cannot show anything at 5 %", spec.pairs,
                   kLeastPairs, kMostPairs);
  if (spec.selector)
    if (const auto compiled = compile(*spec.selector); !compiled) return pass(compiled.error());
  return {};
}

}  // namespace mangrove::api
