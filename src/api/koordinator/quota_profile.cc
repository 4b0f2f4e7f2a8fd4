#include "api/koordinator/quota_profile.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    always<&QuotaProfileSpec::quotaName>("quotaName"),
    unlessUnset<&QuotaProfileSpec::quotaLabels>("quotaLabels"),
    unlessUnset<&QuotaProfileSpec::resourceRatio>("resourceRatio"),
    always<&QuotaProfileSpec::nodeSelector>("nodeSelector"),
};
bool read(const In& in, QuotaProfileSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const QuotaProfileSpec& value) {
  return kSpec.write(value);
}

bool read(const In& in, QuotaProfile& out) {
  static constexpr Fields fields{
      field<&QuotaProfile::meta>("metadata"),
      field<&QuotaProfile::spec>("spec"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
