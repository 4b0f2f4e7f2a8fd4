#include "manager/webhook/configmap/ratio_advice.h"

#include <fmt/format.h>

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

constexpr double kLeast = 1, kMost = 5;

void warn(FindingsAbout& out, const std::string& path, std::string text) {
  out.add(Severity::kWarning, FindingKind::kRange, path, std::move(text));
}

const json::Object* objectAt(const json::Value& strategy, std::string_view name) {
  const json::Value* found =
      strategy.is_object() ? strategy.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

std::string below(const std::string& at, std::string_view name) {
  return at.empty() ? std::string(name) : fmt::format("{}.{}", at, name);
}

void checkNormalization(const json::Value& value, const std::string& path, FindingsAbout& out) {
  if (!value.is_number()) return;
  const double ratio = value.to_number<double>();
  if (ratio < kLeast || ratio > kMost)
    warn(out, path,
         fmt::format("{:g} is out of range, want {:g} to {:g}; nodes of that model keep the ratio "
                     "they have",
                     ratio, kLeast, kMost));
}

void checkModels(const json::Value& strategy, const std::string& at, FindingsAbout& out) {
  if (!strategy.is_object()) return;
  if (const json::Value* ratio = strategy.get_object().if_contains("defaultRatio"))
    checkNormalization(*ratio, below(at, "defaultRatio"), out);
  const json::Object* models = objectAt(strategy, "ratioModel");
  if (models == nullptr) return;
  for (const auto& [model, ratios] : *models) {
    if (!ratios.is_object()) continue;
    for (const auto& [name, ratio] : ratios.get_object())
      checkNormalization(ratio,
                         fmt::format("{}.{}.{}", below(at, "ratioModel"), std::string_view(model),
                                     std::string_view(name)),
                         out);
  }
}

void checkAmplification(const json::Value& strategy, const std::string& at, FindingsAbout& out) {
  const json::Object* ratios = objectAt(strategy, "resourceAmplificationRatio");
  if (ratios == nullptr) return;
  for (const auto& [name, value] : *ratios) {
    if (!value.is_number() || value.to_number<double>() >= kLeast) continue;
    const std::string_view resource = name;
    const std::string_view unless =
        resource == "cpu" ? ", unless cpu normalization makes up for it" : "";
    warn(out, fmt::format("{}.{}", below(at, "resourceAmplificationRatio"), resource),
         fmt::format("{:g} is below {:g}: nothing is amplified on these nodes{}",
                     value.to_number<double>(), kLeast, unless));
  }
}

}  // namespace

void checkRatios(std::string_view key, const ReadKey& read, FindingsAbout& out) {
  const bool isNormalization = key == api::slo_key::kCpuNormalization;
  if (!isNormalization && key != api::slo_key::kResourceAmplification) return;
  const auto check = isNormalization ? checkModels : checkAmplification;
  check(read.said, std::string(read.clusterAt), out);
  for (size_t i = 0; i < read.entries.size(); ++i)
    check(read.entries[i].said, fmt::format("{}[{}]", read.entriesAt, i), out);
}

}  // namespace mangrove::manager
