#include "placement/plugins/absent.h"

#include <fmt/core.h>

#include "api/wire/names.h"

namespace mangrove::placement {

namespace {

std::string firstOf(const api::Labels& labels, const api::Annotations& annotations,
                    std::initializer_list<std::string_view> keys) {
  for (auto key : keys) {
    if (labels.has(key)) return fmt::format("label {}", key);
    if (annotations.has(key)) return fmt::format("annotation {}", key);
  }
  return "";
}

std::string needOf(std::string_view plugin, const api::Pod& pod) {
  const auto& meta = pod.meta;
  if (plugin == "Reservation")
    return firstOf(meta.labels, meta.annotations, {api::annotation::kReservationAffinity});
  return "";
}

}  // namespace

std::optional<AbsentNeed> needOfAbsentPlugin(const api::Pod& pod,
                                             const std::vector<std::string>& absent) {
  for (const auto& plugin : absent)
    if (std::string need = needOf(plugin, pod); !need.empty())
      return AbsentNeed{plugin,
                        fmt::format("the pod's {} needs plugin {}, which is not part of "
                                    "this version of the scheduler",
                                    need, plugin),
                        fmt::format("the pod's {} is ignored: plugin {} is not part of this "
                                    "version of the scheduler",
                                    need, plugin)};
  return std::nullopt;
}

}  // namespace mangrove::placement
