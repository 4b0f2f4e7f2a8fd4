#pragma once
// Pods of a quota tree run on the tree's nodes (gate MultiQuotaTree): the nodeSelector of the
// tree's ElasticQuotaProfile becomes required node affinity.
//
// Pure; one thread at a time per value.

#include <string_view>

#include "json/value.h"
#include "manager/webhook/quota/tree.h"

namespace mangrove::manager {

void addQuotaTreeNodes(json::Object& pod, std::string_view ns, const QuotaTree& quotas);

}  // namespace mangrove::manager
