#pragma once
// Asks the API server which pods a quota has, for the few reviews that must know: deleting a quota
// and making it a parent. Caching every pod's quota for that would cost more than these questions.
//
//   askPodsOfQuota(client, owner, "team-a", {"team-a"}, [](Result<PodsOfQuota> pods) { … });
//
// Owner thread.

#include <string>
#include <vector>

#include "base/fn.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "manager/webhook/quota/tree.h"

namespace mangrove::manager {

void askPodsOfQuota(client::ApiClient& client, Mailbox& owner, const std::string& quota,
                    const std::vector<std::string>& namespaces,
                    UniqueFn<void(Result<PodsOfQuota>)> done);

// Count and names of one page of pods; the page says how many follow.
Result<PodsOfQuota> podsInPage(std::string_view listBody);

}  // namespace mangrove::manager
