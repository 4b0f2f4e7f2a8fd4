#pragma once
// The nodes and pods of a benchmark case on a server: made, and removed again.
//
//   BenchCluster cluster(client, *findCase("SchedulingBasic"), options);
//   cluster.createNodes();  cluster.createPods(kind, "pod", 5000);  …  cluster.remove();
//
// Blocks until the server has answered. One thread.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_client.h"
#include "scheduler/bench/bench.h"
#include "scheduler/bench/cases.h"

namespace mangrove::scheduler {

// Many requests at once, and the first thing that went wrong.
class Burst {
 public:
  explicit Burst(client::ApiClient& client) : client_(client) {}
  ~Burst() { (void)finish(); }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  void send(client::Request request);  // waits while too many are under way
  Result<> finish();

 private:
  client::ApiClient& client_;
  std::mutex mutex_;
  std::condition_variable room_;
  int open_ = 0;
  std::optional<Error> trouble_;
};

client::Request creation(const api::Kind& kind, std::string_view ns, std::string body);

class BenchCluster {
 public:
  BenchCluster(client::ApiClient& client, const BenchCase& bench, const BenchOptions& options)
      : client_(client), bench_(bench), options_(options) {}

  size_t nodes() const { return static_cast<size_t>(options_.nodes); }
  size_t firstPods() const;
  size_t measuredPods() const;

  Result<> createNodes();
  // So many more of that name.
  Result<> createPods(BenchPod kind, std::string_view name, size_t count);
  void remove();  // all of it

 private:
  bool reportsLoad() const;
  size_t leaves() const { return static_cast<size_t>(options_.leaves); }
  size_t quotas() const { return hasQuotas(bench_.measured) ? quotaCount(leaves()) : 0; }
  Result<> createReservations();

  client::ApiClient& client_;
  const BenchCase& bench_;
  const BenchOptions& options_;
  std::vector<std::string> pods_;
  std::map<std::string, size_t> numbers_;  // of the next pod of a name
};

}  // namespace mangrove::scheduler
