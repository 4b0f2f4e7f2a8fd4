#pragma once
// What pods find each other by: the names of Services and of the pods behind them, as Kubernetes
// gives them.
//
//   web.default.svc.cluster.local                 the service's address; headless: its pods'
//   web-0.db.default.svc.cluster.local            a pod of a headless service, by its host name: a
//                                                 StatefulSet's, or the one it chose (hostname, subdomain)
//   _http._tcp.web.default.svc.cluster.local      SRV: port and host
//   10-88-0-7.default.pod.cluster.local           a pod, by its address
//
//   std::optional<dns::Reply> reply = book.answer(question);     // nullopt: not ours, ask others
//
// Any thread.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/dns_message.h"
#include "runtime/core/services.h"

namespace mangrove::runtime {

inline constexpr std::string_view kClusterDomain = "cluster.local";

class NameBook {
 public:
  // By "namespace/name"; null: it is gone.
  void put(std::string_view key, std::shared_ptr<const ServiceView> service,
           std::shared_ptr<const EndpointsView> endpoints);

  // A pod that chose its own host name below a headless service ("namespace/subdomain"); found
  // while the service has its address. dropHost: it is gone.
  void putHost(const std::string& uid, std::string service, std::string hostname, std::string ip);
  void dropHost(const std::string& uid);

  std::optional<dns::Reply> answer(const dns::Question& question) const;
  // An alias of ours for a name outside: whom to ask for its address.
  std::optional<std::string> aliasOf(const dns::Question& question) const;

 private:
  struct Entry {
    std::shared_ptr<const ServiceView> service;
    std::shared_ptr<const EndpointsView> endpoints;
  };
  std::optional<dns::Reply> ours(const dns::Question& question) const;
  using Labels = std::vector<std::string_view>;
  static dns::Reply below(const Entry& entry, const dns::Question& question, const Labels& labels,
                          std::string_view base);
  static dns::Reply itself(const Entry& entry, const dns::Question& question);
  static dns::Reply member(const Entry& entry, const dns::Question& question,
                           std::string_view host);
  static dns::Reply ports(const Entry& entry, const dns::Question& question, const Labels& labels,
                          std::string_view base);
  dns::Reply hosted(const Entry& entry, const dns::Question& question, std::string_view service,
                    std::string_view host) const;
  std::optional<dns::Reply> byAddress(const dns::Question& question) const;

  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> services_;
  struct Host {
    std::string service, hostname, ip;
  };
  std::map<std::string, Host> hosts_;  // by the pod's uid
};

// The resolver file of a pod. `server` "": there is none here.
struct ResolverWish {
  std::string policy;  // ClusterFirst, ClusterFirstWithHostNet, Default, None
  std::vector<std::string> servers, searches, options;  // dnsConfig
};
// nullopt: the machine's own file is right. `machine`: that file's text.
std::optional<std::string> resolverFile(const ResolverWish& wish, std::string_view ns,
                                        bool hostNetwork, std::string_view server,
                                        std::string_view machine);
// The addresses behind "nameserver" in such a file.
std::vector<std::string> serversIn(std::string_view resolverText);

}  // namespace mangrove::runtime
