#include "api/koordinator/pod_group.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    unlessUnset<&PodGroupSpec::minMember>("minMember"),
    unlessUnset<&PodGroupSpec::minResources>("minResources"),
    unlessUnset<&PodGroupSpec::scheduleTimeoutSeconds>("scheduleTimeoutSeconds"),
};
bool read(const In& in, PodGroupSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const PodGroupSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kStatus{
    unlessUnset<&PodGroupStatus::phase>("phase"),
    unlessUnset<&PodGroupStatus::occupiedBy>("occupiedBy"),
    unlessUnset<&PodGroupStatus::scheduled>("scheduled"),
    unlessUnset<&PodGroupStatus::running>("running"),
    unlessUnset<&PodGroupStatus::succeeded>("succeeded"),
    unlessUnset<&PodGroupStatus::failed>("failed"),
    unlessUnset<&PodGroupStatus::scheduleStartTime>("scheduleStartTime"),
};
bool read(const In& in, PodGroupStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const PodGroupStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, PodGroup& out) {
  static constexpr Fields fields{
      field<&PodGroup::meta>("metadata"),
      field<&PodGroup::spec>("spec"),
      field<&PodGroup::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
