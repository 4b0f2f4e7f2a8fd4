#include "placement/plugins/elasticquota/own_quotas.h"

#include <algorithm>

#include "api/wire/kind.h"
#include "api/wire/names.h"

namespace mangrove::placement {

namespace {

bool isThere(const Cluster& cluster, std::string_view name) {
  return std::any_of(cluster.elasticQuotas.begin(), cluster.elasticQuotas.end(),
                     [&](const auto& entry) { return entry.second->meta.name.view() == name; });
}

ObjectPatch made(std::string_view name, const std::string& ns, json::Object labels,
                 json::Object spec) {
  ObjectPatch out;
  out.kind = &api::kind::kElasticQuota;
  out.ns = ns;
  out.name = name;
  out.create = true;
  out.body = {{"apiVersion", "scheduling.sigs.k8s.io/v1alpha1"},
              {"kind", "ElasticQuota"},
              {"metadata", json::Object{{"name", name}, {"namespace", ns}, {"labels", labels}}},
              {"spec", std::move(spec)}};
  return out;
}

}  // namespace

std::vector<ObjectPatch> missingQuotas(const Cluster& cluster, const QuotaArgs& args) {
  std::vector<ObjectPatch> out;
  const std::string& ns = args.quotaGroupNamespace;
  if (!isThere(cluster, api::object::kRootQuota))
    out.push_back(
        made(api::object::kRootQuota, ns,
             {{api::label::kQuotaIsParent, "true"}, {api::label::kQuotaAllowLentResource, "false"}},
             {}));
  for (const auto& [name, max] : {std::pair{api::object::kSystemQuota, &args.systemMax},
                                  std::pair{api::object::kDefaultQuota, &args.defaultMax}})
    if (!isThere(cluster, name))
      out.push_back(made(name, ns, {}, {{"max", quantitiesOf(*max).toJson()}}));
  return out;
}

}  // namespace mangrove::placement
