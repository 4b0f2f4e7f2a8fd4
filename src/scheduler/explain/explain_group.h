#pragma once
// Why a gang waits, or that it does not, from what the server has now.
//
//   auto why = explainGroup(client, config, "default/train", clock);
//   sentenceOf(*why)
//
// Blocking; any thread but I/O threads.

#include <string>

#include "base/clock.h"
#include "client/api_client.h"
#include "placement/config/config.h"
#include "placement/explain/group_explanation.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

// `gang`: "namespace/name" of any gang of the group.
Result<placement::GroupExplanation> explainGroup(client::ApiClient& client,
                                                 const SchedulerConfig& config,
                                                 const std::string& gang, Clock& clock);
std::string toText(const placement::GroupExplanation& group);
json::Object toJson(const placement::GroupExplanation& group);

}  // namespace mangrove::scheduler
