#pragma once
// The kubelet's pod-resources service, served on a socket of ours with the devices added that the
// scheduler gave to pods: monitors that ask which pod has which GPU see those, too.
//
//   auto proxy = PodResourcesProxy::start({.dir = "/var/run/koordlet/pod-resources",
//                                          .kubelet =
//                                          "/var/lib/kubelet/pod-resources/kubelet.sock"});
//   (*proxy)->follow(book);                               // every tick; cheap when nothing changed
//
// start() and follow() in the owner's thread; the proxy has a thread for each connection, and those
// are few.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/collect/pod_book.h"
#include "agent/pod_resources/message.h"
#include "net/http/grpc_socket.h"

namespace mangrove::agent {

struct PodResourcesOptions {
  std::string dir = "/var/run/koordlet/pod-resources";  // our socket is kubelet.sock in it
  std::string kubelet = "/var/lib/kubelet/pod-resources/kubelet.sock";
  Duration timeout = std::chrono::seconds(10);
};

class PodResourcesProxy {
 public:
  static Result<std::unique_ptr<PodResourcesProxy>> start(PodResourcesOptions options);
  ~PodResourcesProxy();
  PodResourcesProxy(const PodResourcesProxy&) = delete;
  PodResourcesProxy& operator=(const PodResourcesProxy&) = delete;

  void follow(const PodBook& book);

 private:
  using Allocated = std::map<std::string, PodDevices>;  // by "namespace/name"
  PodResourcesProxy(PodResourcesOptions options, UniqueFd listener);
  void accept();
  net::GrpcReply answer(const std::string& method, const std::string& message);
  PodDevices find(std::string_view ns, std::string_view name) const;

  PodResourcesOptions options_;
  UniqueFd listener_, end_;
  uint64_t bookVersion_ = ~uint64_t{0};
  mutable std::mutex mutex_;
  std::shared_ptr<const Allocated> allocated_ = std::make_shared<Allocated>();
  std::thread acceptor_;
};

}  // namespace mangrove::agent
