#include "api/koordinator/recommendation.h"

#include "api/wire/schema.h"

namespace mangrove::api {

using Workload = RecommendationTarget::Workload;
static constexpr Schema kWorkload{
    unlessUnset<&Workload::kind>("kind"),
    unlessUnset<&Workload::name>("name"),
    unlessUnset<&Workload::apiVersion>("apiVersion"),
};
bool read(const In& in, RecommendationTarget::Workload& out) {
  return kWorkload.read(in, out);
}
json::Value toJson(const RecommendationTarget::Workload& value) {
  return kWorkload.write(value);
}

static constexpr Schema kTarget{
    unlessUnset<&RecommendationTarget::type>("type"),
    unlessUnset<&RecommendationTarget::workload>("workload"),
    unlessUnset<&RecommendationTarget::podSelector>("podSelector"),
};
bool read(const In& in, RecommendationTarget& out) {
  return kTarget.read(in, out);
}
json::Value toJson(const RecommendationTarget& value) {
  return kTarget.write(value);
}

static constexpr Schema kSpec{always<&RecommendationSpec::target>("target")};
bool read(const In& in, RecommendationSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const RecommendationSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kContainer{
    unlessUnset<&RecommendedContainer::containerName>("containerName"),
    unlessUnset<&RecommendedContainer::resources>("resources"),
};
bool read(const In& in, RecommendedContainer& out) {
  return kContainer.read(in, out);
}
json::Value toJson(const RecommendedContainer& value) {
  return kContainer.write(value);
}

static constexpr Schema kPod{unlessUnset<&RecommendedPod::containerStatuses>("containerStatuses")};
bool read(const In& in, RecommendedPod& out) {
  return kPod.read(in, out);
}
json::Value toJson(const RecommendedPod& value) {
  return kPod.write(value);
}

static constexpr Schema kStatus{
    unlessUnset<&RecommendationStatus::podStatus>("podStatus"),
    unlessUnset<&RecommendationStatus::updateTime>("updateTime"),
    unlessUnset<&RecommendationStatus::conditions>("conditions"),
};
bool read(const In& in, RecommendationStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const RecommendationStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, Recommendation& out) {
  static constexpr Fields fields{
      field<&Recommendation::meta>("metadata"),
      field<&Recommendation::spec>("spec"),
      field<&Recommendation::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
