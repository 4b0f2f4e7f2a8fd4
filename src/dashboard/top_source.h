#pragma once
// Where `mangrove top` gets its picture: the dashboard of `up` (every second, with pressure and
// decisions), or any cluster's API (what reports tell).
//
//   auto source = boardSource(loop, "http://127.0.0.1:9317", token);
//   Result<TopPicture> picture = source->fetch();      // blocks for one round of requests
//
// One thread at a time.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/api_client.h"
#include "dashboard/top.h"
#include "net/loop.h"

namespace mangrove::dashboard {

class TopSource {
 public:
  virtual ~TopSource() = default;
  // Quotas cost more to put together, and are left out unless asked for.
  virtual Result<TopPicture> fetch(bool withQuotas) = 0;
};

Result<std::unique_ptr<TopSource>> boardSource(net::Loop& loop, Clock& clock,
                                               const std::string& url, std::string token);
// The client outlives the source.
std::unique_ptr<TopSource> clusterSource(client::ApiClient& client, Clock& clock);

}  // namespace mangrove::dashboard
