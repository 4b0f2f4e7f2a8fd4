#pragma once
// The quota tree as admission sees it, for the debug path /elasticQuota.

#include <string>

#include "manager/webhook/quota/tree.h"

namespace mangrove::manager {

// {"ns/name": {"parent":…, "treeId":…, "isParent":…, "min":{}, "max":{}, "used":{}, …}}, sorted.
std::string dumpQuotas(const QuotaTree& tree);

}  // namespace mangrove::manager
