#pragma once
// The quotas of a cluster as its server has them now, with every pod in them: what `explain quota`,
// `explain pod` and `check quota` look at. Judged with the reference's arguments.
//
//   auto view = QuotaView::load(client);
//   view->desk().book().find("team-a")
//
// Used by one command, on one thread.

#include <memory>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "placement/plugins/elasticquota/quota_desk.h"

namespace mangrove::cli {

struct QuotaPodName {
  std::string name;  // "ns/name"
  api::Uid uid;
};

class QuotaView {
 public:
  // `instead`: quotas that stand in for those of their name (or are added).
  static Result<std::unique_ptr<QuotaView>> load(
      client::ApiClient& client, const std::vector<api::ElasticQuota>& instead = {});

  placement::QuotaDesk& desk() { return *desk_; }
  const std::vector<QuotaPodName>& pods() const { return pods_; }

 private:
  placement::Cluster cluster_;
  std::unique_ptr<placement::QuotaDesk> desk_;
  std::vector<QuotaPodName> pods_;
};

// Why a pod waits for its quota, as text; "" when quotas have nothing to do with it.
std::string quotaWhy(QuotaView& view, const api::Uid& pod);

}  // namespace mangrove::cli
