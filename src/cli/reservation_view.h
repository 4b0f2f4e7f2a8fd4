#pragma once
// The reservations of a cluster as its server has them, with nodes and pods: what
// `explain reservation` tells.
//
//   ReservationView view;
//   view.add(node);  view.add(reservation);  view.add(pod);       // nodes first
//   auto told = view.tell("r", now);
//
// One thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/voice.h"
#include "client/api_client.h"
#include "placement/cluster/cluster.h"

namespace mangrove::cli {

class ReservationView {
 public:
  Result<> load(client::ApiClient& client);
  void add(const std::shared_ptr<api::Node>& node);
  void add(const std::shared_ptr<api::Reservation>& reservation);
  void add(const std::shared_ptr<api::Pod>& pod);

  Result<Told> tell(std::string_view name, WallTime now) const;

 private:
  std::string waiting(const placement::ReservationEntry& entry) const;
  placement::Cluster cluster_;
  std::vector<std::shared_ptr<api::Pod>> waiting_;
};

}  // namespace mangrove::cli
