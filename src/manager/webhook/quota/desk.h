#pragma once
// Books pods on quotas (quota admission): one write per quota at a time, and pods that arrive
// meanwhile share the next one. The quota's version guards the write; when somebody else was faster
// the quota is read again and the booking is judged anew.
//
//   QuotaDesk desk({.client = &client, .owner = &owner, .picture = &picture});
//   desk.book("team-a", requests, dryRun, [](Review review) { … });
//
// Owner thread; `done` runs there too.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/number/rng.h"
#include "client/api_client.h"
#include "manager/webhook/cluster_picture.h"
#include "manager/webhook/quota/admission.h"
#include "manager/webhook/server.h"

namespace mangrove::manager {

struct DeskSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Clock* clock = nullptr;
  ClusterPicture* picture = nullptr;
  int maxRetries = 3;                                 // --quota-update-max-retries
  Duration retryJitter{};                             // --quota-update-retry-jitter; zero: none
  Duration maxTotalJitter = std::chrono::seconds(1);  // of one booking's retries together
  Duration timeout = std::chrono::seconds(10);        // of one pod, waiting included
  uint64_t seed = 1;                                  // of the jitter
};

class QuotaDesk {
 public:
  explicit QuotaDesk(DeskSetup setup);
  ~QuotaDesk();

  void book(const std::string& quota, api::ResourceList request, bool dryRun, ReviewDone done);

 private:
  struct Waiting {
    api::ResourceList request;
    bool dryRun = false;
    ReviewDone done;
    MonoTime until{};
  };
  struct Counter {
    std::deque<Waiting> line;
    std::vector<Waiting> underWay;
    int retriesLeft = 0;
    Duration jitterLeft{};
    Timer pause;
    bool busy = false;
  };

  void serve(const std::string& name);
  void judge(const std::string& name, Quota quota);
  void write(const std::string& name, const Quota& quota);
  void written(const std::string& name, const Quota& sent, Result<client::Reply> reply);
  void retry(const std::string& name, const Quota& old);
  void readAgain(const std::string& name, const Quota& old);
  void close(const std::string& name, const Result<>& outcome);
  Result<Quota> latest(const std::string& name) const;
  void dropLate(Counter& counter);

  DeskSetup setup_;
  std::map<std::string, Counter> counters_;
  Rng rng_;
  std::map<std::string, Quota> own_;  // our last writes, until the caches have them
  Lifetime life_;
};

}  // namespace mangrove::manager
