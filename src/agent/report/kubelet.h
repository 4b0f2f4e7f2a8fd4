#pragma once
// The kubelet as a second source: its pods (static ones under their real uids) and its CPU and
// topology configuration.
//
//   auto kubelet = KubeletClient::make(loop, *kubeletUrl(node, options), options);
//   kubelet->pods(owner, [&](Result<std::vector<PodPtr>> pods) { … });
//
// Answers come in the owner's thread. The kubelet's certificate is verified where an authority is
// given; without one it is not (many kubelets sign their own), as in the reference. A bearer token
// proves who we are.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/collect/pod_book.h"
#include "agent/report/topology.h"
#include "api/object/node.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "net/client/http_client.h"
#include "net/loop.h"

namespace mangrove::agent {

struct KubeletOptions {
  std::string addressType = "InternalIP";
  Duration timeout = std::chrono::seconds(3);
  bool plainHttp = false;
  int64_t readOnlyPort = 10255;
  std::string token = {};      // or
  std::string tokenFile = {};  // read for every request: Kubernetes replaces it
  std::string caFile = {};     // who may have signed its certificate; "": anybody
};

// Where the node says its kubelet listens.
Result<std::string> kubeletUrl(const api::Node& node, const KubeletOptions& options);
// The body of /pods.
Result<std::vector<PodPtr>> parsePodList(std::string_view body);

class KubeletClient {
 public:
  static Result<std::unique_ptr<KubeletClient>> make(net::Loop& loop, const std::string& url,
                                                     KubeletOptions options, Registry* metrics);

  void pods(Mailbox& owner, std::function<void(Result<std::vector<PodPtr>>)> done);
  void config(Mailbox& owner, std::function<void(Result<KubeletConfig>)> done);

 private:
  KubeletClient(std::unique_ptr<net::HttpClient> http, KubeletOptions options, Registry* metrics);
  void get(Mailbox& owner, std::string path, std::function<void(Result<std::string>)> done);

  std::unique_ptr<net::HttpClient> http_;
  KubeletOptions options_;
  HistogramFamily* durations_ = nullptr;
};

}  // namespace mangrove::agent
