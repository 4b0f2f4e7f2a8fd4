#include "manager/controllers/noderesource/news.h"

#include "api/object/node_pause.h"
#include "api/wire/names.h"
#include "manager/controllers/noderesource/alias_views.h"
#include "manager/kept_annotations.h"

namespace mangrove::manager {
namespace {

// Annotations that the formulas read and we do not write.
bool isInput(std::string_view annotation) {
  return isKept(annotation) && annotation != api::annotation::kOriginExtendedAllocatable &&
         annotation != api::annotation::kCpuNormalizationRatio &&
         annotation != api::annotation::kResourceAmplificationRatio && annotation != kWrittenViews;
}

bool sameInputs(const api::Annotations& a, const api::Annotations& b) {
  const auto covers = [](const api::Annotations& left, const api::Annotations& right) {
    for (const auto& [key, value] : left)
      if (isInput(key.view()) && right.get(key.view()) != value.view()) return false;
    return true;
  };
  return covers(a, b) && covers(b, a);
}

bool sameAmounts(const api::ResourceList& a, const api::ResourceList& b) {
  return a.cpu() == b.cpu() && a.memory() == b.memory();
}

}  // namespace

bool isNews(const api::Node& before, const api::Node& after) {
  return before.status.allocatable != after.status.allocatable ||
         before.status.capacity != after.status.capacity ||
         before.meta.labels != after.meta.labels ||
         before.meta.annotations != after.meta.annotations ||
         api::isPaused(before) != api::isPaused(after);
}

bool isNews(const api::NodeResourceTopology& before, const api::NodeResourceTopology& after) {
  return before.zones != after.zones || before.meta.annotations != after.meta.annotations;
}

bool sameInputs(const api::Node& a, const api::Node& b) {
  return sameAmounts(a.status.capacity, b.status.capacity) &&
         sameAmounts(a.status.allocatable, b.status.allocatable) &&
         a.meta.labels == b.meta.labels && sameInputs(a.meta.annotations, b.meta.annotations) &&
         api::isPaused(a) == api::isPaused(b);
}

}  // namespace mangrove::manager
