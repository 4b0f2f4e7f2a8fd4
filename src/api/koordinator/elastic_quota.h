#pragma once
// ElasticQuota (scheduling.sigs.k8s.io): guaranteed and largest amounts of one node of the quota
// tree; its place in the tree and the scheduler's figures are labels and annotations
// (annotations/quota.h). Namespaced; no status subresource.

#include "api/object/meta.h"
#include "api/pod/resource_list.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ElasticQuotaSpec {
  ResourceList min;
  ResourceList max;
  bool operator==(const ElasticQuotaSpec&) const = default;
};
bool read(const In& in, ElasticQuotaSpec& out);
json::Value toJson(const ElasticQuotaSpec& value);

struct ElasticQuotaStatus {
  ResourceList used;
  bool operator==(const ElasticQuotaStatus&) const = default;
};
bool read(const In& in, ElasticQuotaStatus& out);
json::Value toJson(const ElasticQuotaStatus& value);

struct ElasticQuota {
  ObjectMeta meta;
  ElasticQuotaSpec spec;
  ElasticQuotaStatus status;
};
bool read(const In& in, ElasticQuota& out);

}  // namespace mangrove::api
