#pragma once
// A cluster that stands still, as an API client: every list is made up while it is asked for, every
// watch stays silent, every write is taken and forgotten. So that a measurement is of the
// descheduler and of no server.
//
//   StillCluster cluster({.nodes = 5000, .pods = 50'000, .hotPercent = 10}, clock.wall());
//
// Any thread.

#include <functional>
#include <memory>
#include <string>

#include "client/api_client.h"

namespace mangrove::descheduler {

struct StillClusterOptions {
  int64_t nodes = 5000;
  int64_t pods = 50'000;
  int64_t hotPercent = 10;
};

class StillCluster final : public client::ApiClient {
 public:
  StillCluster(StillClusterOptions options, WallTime now) : options_(options), now_(now) {}

  void submit(client::Request request, Done done) override;
  std::unique_ptr<client::Watch> watch(client::WatchRequest request,
                                       client::WatchHandler handler) override;
  std::string server() const override { return "a cluster that stands still"; }
  using client::ApiClient::submit;

 private:
  std::string page(const client::Request& request) const;
  std::string item(std::string_view plural, int64_t i) const;
  int64_t sizeOf(std::string_view plural) const;
  std::string node(int64_t i) const;
  std::string pod(int64_t i) const;
  std::string metric(int64_t i) const;
  bool isHot(int64_t node) const { return node * options_.hotPercent % 100 < options_.hotPercent; }

  const StillClusterOptions options_;
  const WallTime now_;
};

}  // namespace mangrove::descheduler
