#pragma once
// The quotas of a cluster as its server has them now, with every pod in them: what `explain quota`,
// `explain pod` and `check quota` look at. Judged with the arguments of the scheduler's
// configuration, where one is named, and with the defaults otherwise.
//
//   auto view = QuotaView::load(client, args);
//   view->desk().book().find("team-a")
//
// Used by one command, on one thread.

#include <memory>
#include <string>
#include <vector>

#include "client/api_client.h"
#include "placement/config/config.h"
#include "placement/plugins/elasticquota/picture.h"

namespace mangrove::cli {

struct QuotaPodName {
  std::string name;  // "ns/name"
  api::Uid uid;
};

// Of the first profile that has any.
Result<placement::QuotaArgs> quotaArgsOf(const placement::SchedulerConfig& config);
// Of the file; of "" the defaults.
Result<placement::QuotaArgs> quotaArgsIn(const std::string& configFile);

class QuotaView {
 public:
  explicit QuotaView(placement::QuotaArgs args) : picture_(std::move(args)) {}
  // `instead`: quotas that stand in for those of their name (or are added).
  static Result<std::unique_ptr<QuotaView>> load(
      client::ApiClient& client, const placement::QuotaArgs& args,
      const std::vector<api::ElasticQuota>& instead = {});

  placement::QuotaPicture& picture() { return picture_; }
  placement::QuotaDesk& desk() { return picture_.desk(); }
  const std::vector<QuotaPodName>& pods() const { return pods_; }

 private:
  placement::QuotaPicture picture_;
  std::vector<QuotaPodName> pods_;
};

// Why a pod waits for its quota, as text; "" when quotas have nothing to do with it.
std::string quotaWhy(QuotaView& view, const api::Uid& pod);

}  // namespace mangrove::cli
