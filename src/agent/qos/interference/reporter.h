#pragma once
// Writes InterferenceReports: the first news of an episode creates the object, later ones change it;
// one request per episode at a time, and only the latest waits.
//
//   InterferenceReporter reporter(client, owner);
//   reporter.tell(std::move(board.reports));
//
// Owner thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/interference/report.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

class InterferenceReporter {
 public:
  static constexpr size_t kMost = 64;  // episodes that are waited for

  InterferenceReporter(client::ApiClient& client, Mailbox& owner)
      : client_(client), owner_(owner) {}
  ~InterferenceReporter() { life_.end(); }

  void tell(std::vector<api::InterferenceReport> reports);

 private:
  struct Told {
    bool made = false, underWay = false;
    std::optional<api::InterferenceReport> next;
    api::InterferenceReport sent = {};
  };
  void send(const std::string& key);
  void answered(const std::string& key, const Result<client::Reply>& reply);

  client::ApiClient& client_;
  Mailbox& owner_;
  std::map<std::string, Told> told_;
  Lifetime life_;
};

}  // namespace mangrove::agent
