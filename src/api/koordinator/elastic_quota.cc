#include "api/koordinator/elastic_quota.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kSpec{
    unlessUnset<&ElasticQuotaSpec::min>("min"),
    unlessUnset<&ElasticQuotaSpec::max>("max"),
};
bool read(const In& in, ElasticQuotaSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ElasticQuotaSpec& value) {
  return kSpec.write(value);
}

static constexpr Schema kStatus{unlessUnset<&ElasticQuotaStatus::used>("used")};
bool read(const In& in, ElasticQuotaStatus& out) {
  return kStatus.read(in, out);
}
json::Value toJson(const ElasticQuotaStatus& value) {
  return kStatus.write(value);
}

bool read(const In& in, ElasticQuota& out) {
  static constexpr Fields fields{
      field<&ElasticQuota::meta>("metadata"),
      field<&ElasticQuota::spec>("spec"),
      field<&ElasticQuota::status>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
