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
  // One node, with what is on it.
  Result<> loadNode(client::ApiClient& client, const std::string& node);
  void add(const std::shared_ptr<api::Node>& node);
  void add(const std::shared_ptr<api::Reservation>& reservation);
  void add(const std::shared_ptr<api::Pod>& pod);

  Result<Told> tell(std::string_view name, WallTime now);
  // What reservations of the node keep, and what is taken there over time, as text and as data; ""
  // where there is none.
  std::string tellNode(std::string_view node, WallTime now, json::Object& data);

 private:
  std::string waiting(const placement::ReservationEntry& entry) const;
  Result<> loadReservations(client::ApiClient& client);
  placement::Cluster cluster_;
  std::vector<std::shared_ptr<api::Pod>> waiting_;
};

}  // namespace mangrove::cli
