#pragma once
// The configuration by which a scheduler of this cluster judges: what a file says, else ours for one
// machine or for a cluster.

#include <string>

#include "base/result.h"
#include "client/api_client.h"
#include "placement/config/config.h"

namespace mangrove::cli {

Result<placement::SchedulerConfig> schedulerConfigOf(const std::string& file,
                                                     client::ApiClient& client);

}  // namespace mangrove::cli
