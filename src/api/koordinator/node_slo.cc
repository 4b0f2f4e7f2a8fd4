#include "api/koordinator/node_slo.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    unlessUnset<&NodeSloSpec::resourceUsedThresholdWithBe>("resourceUsedThresholdWithBE"),
    unlessUnset<&NodeSloSpec::resourceQosStrategy>("resourceQOSStrategy"),
    unlessUnset<&NodeSloSpec::cpuBurstStrategy>("cpuBurstStrategy"),
    unlessUnset<&NodeSloSpec::systemStrategy>("systemStrategy"),
    unlessUnset<&NodeSloSpec::extensions>("extensions"),
    unlessUnset<&NodeSloSpec::hostApplications>("hostApplications"),
};
bool read(const In& in, NodeSloSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const NodeSloSpec& value) {
  return kSpec.write(value);
}

bool read(const In& in, NodeSlo& out) {
  static constexpr Fields fields{field<&NodeSlo::meta>("metadata"), field<&NodeSlo::spec>("spec")};
  return fields.read(in, out);
}

}  // namespace mangrove::api
