#include "runtime/core/names.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::runtime {
namespace {

using dns::Code;
using dns::Question;
using dns::Record;
using dns::Reply;

constexpr size_t kMostSearches = 32, kMostServers = 3;

bool wants(const Question& question, uint16_t type) {
  return question.type == type || question.type == dns::kTypeAny;
}

// A pod without a host name is called by its address.
std::string hostOf(const EndpointsView::Address& address) {
  if (!address.hostname.empty()) return address.hostname;
  std::string out = address.ip;
  std::replace(out.begin(), out.end(), '.', '-');
  return out;
}

template <class Visit>
void eachAddress(const EndpointsView* endpoints, Visit visit) {
  if (endpoints == nullptr) return;
  for (const auto& subset : endpoints->subsets)
    for (const auto& address : subset.addresses) visit(subset, address);
}

void addAddress(Reply& reply, const Question& question, std::string_view ip) {
  if (wants(question, dns::kTypeA))
    reply.records.push_back({question.name, dns::kTypeA, 5, std::string(ip)});
}

bool matchesPort(std::string_view label, std::string_view name) {
  return label.size() == name.size() + 1 && label.front() == '_' && label.substr(1) == name;
}

bool sameProtocol(std::string_view label, std::string_view protocol) {
  return matchesPort(label, lower(protocol));
}

// "10-88-0-7" → "10.88.0.7"; "" for what is no address.
std::string dashedAddress(std::string_view label) {
  std::string out(label);
  std::replace(out.begin(), out.end(), '-', '.');
  in_addr address{};
  return ::inet_pton(AF_INET, out.c_str(), &address) == 1 ? out : "";
}

}  // namespace

void NameBook::put(std::string_view key, std::shared_ptr<const ServiceView> service,
                   std::shared_ptr<const EndpointsView> endpoints) {
  const std::lock_guard lock(mutex_);
  if (!service) {
    if (const auto found = services_.find(key); found != services_.end()) services_.erase(found);
    return;
  }
  services_[std::string(key)] = {std::move(service), std::move(endpoints)};
}

std::optional<Reply> NameBook::answer(const Question& question) const {
  const std::lock_guard lock(mutex_);
  if (question.name.ends_with(".in-addr.arpa")) return byAddress(question);
  return ours(question);
}

std::optional<std::string> NameBook::aliasOf(const Question& question) const {
  const auto reply = answer(question);
  if (!reply || !(wants(question, dns::kTypeA) || wants(question, dns::kTypeAaaa)))
    return std::nullopt;
  for (const Record& one : reply->records) {
    if (one.type == dns::kTypeCname) return one.data;
  }
  return std::nullopt;
}

// labels … service namespace "svc" | address namespace "pod", then the domain.
std::optional<Reply> NameBook::ours(const Question& question) const {
  std::string_view name = question.name;
  if (name == kClusterDomain) return Reply{};
  if (!name.ends_with(kClusterDomain) || name[name.size() - kClusterDomain.size() - 1] != '.')
    return std::nullopt;
  name.remove_suffix(kClusterDomain.size() + 1);
  std::vector<std::string_view> labels = split(name, '.');
  const std::string_view kind = labels.back();
  const Reply unknown{Code::kNoName, true, {}};
  if (labels.size() < 3 || (kind != "svc" && kind != "pod")) return unknown;
  const std::string_view ns = labels[labels.size() - 2], what = labels[labels.size() - 3];
  if (kind == "pod") {
    Reply byPod;
    const std::string ip = labels.size() == 3 ? dashedAddress(what) : "";
    if (ip.empty()) return unknown;
    addAddress(byPod, question, ip);
    return byPod;
  }
  const auto found = services_.find(fmt::format("{}/{}", ns, what));
  if (found == services_.end()) return unknown;
  const std::string base = fmt::format("{}.{}.svc.{}", what, ns, kClusterDomain);
  labels.resize(labels.size() - 3);
  Reply reply = below(found->second, question, labels, base);
  if (labels.size() == 1 && reply.code == Code::kNoName && !found->second.service->hasAddress())
    return hosted(found->second, question, found->first, labels[0]);
  return reply;
}

// What the server's endpoints do not say: which of their pods chose that name.
Reply NameBook::hosted(const Entry& entry, const Question& question, std::string_view service,
                       std::string_view host) const {
  Reply reply{Code::kNoName, true, {}};
  for (const auto& [uid, one] : hosts_) {
    if (one.service != service || one.hostname != host) continue;
    eachAddress(entry.endpoints.get(), [&](const auto&, const EndpointsView::Address& address) {
      if (address.ip != one.ip) return;
      reply.code = Code::kNoError;
      addAddress(reply, question, one.ip);
    });
  }
  return reply;
}

void NameBook::putHost(const std::string& uid, std::string service, std::string hostname,
                       std::string ip) {
  const std::lock_guard lock(mutex_);
  hosts_[uid] = {std::move(service), std::move(hostname), std::move(ip)};
}

void NameBook::dropHost(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  hosts_.erase(uid);
}

Reply NameBook::below(const Entry& entry, const Question& question,
                      const std::vector<std::string_view>& labels, std::string_view base) {
  const ServiceView& service = *entry.service;
  if (!service.externalName.empty())
    return {Code::kNoError, true, {{question.name, dns::kTypeCname, 5, service.externalName}}};
  if (labels.empty()) return itself(entry, question);
  if (labels.size() == 1 && !service.hasAddress()) return member(entry, question, labels[0]);
  if (labels.size() == 2) return ports(entry, question, labels, base);
  return {Code::kNoName, true, {}};
}

Reply NameBook::itself(const Entry& entry, const Question& question) {
  Reply reply;
  if (entry.service->hasAddress()) {
    addAddress(reply, question, entry.service->clusterIp);
    return reply;
  }
  eachAddress(entry.endpoints.get(), [&](const auto&, const EndpointsView::Address& one) {
    addAddress(reply, question, one.ip);
  });
  return reply;
}

Reply NameBook::member(const Entry& entry, const Question& question, std::string_view host) {
  Reply reply{Code::kNoName, true, {}};
  eachAddress(entry.endpoints.get(), [&](const auto&, const EndpointsView::Address& one) {
    if (hostOf(one) != host) return;
    reply.code = Code::kNoError;
    addAddress(reply, question, one.ip);
  });
  return reply;
}

Reply NameBook::ports(const Entry& entry, const Question& question,
                      const std::vector<std::string_view>& labels, std::string_view base) {
  Reply reply{Code::kNoName, true, {}};
  const auto add = [&](int32_t port, std::string_view host) {
    if (wants(question, dns::kTypeSrv))
      reply.records.push_back(
          {question.name, dns::kTypeSrv, 5, fmt::format("0 100 {} {}", port, host)});
  };
  for (const ServicePort& port : entry.service->ports) {
    if (!matchesPort(labels[0], port.name) || !sameProtocol(labels[1], port.protocol)) continue;
    reply.code = Code::kNoError;
    if (entry.service->hasAddress()) {
      add(port.port, base);
      continue;
    }
    eachAddress(entry.endpoints.get(),
                [&](const EndpointsView::Subset& subset, const EndpointsView::Address& one) {
                  for (const auto& open : subset.ports) {
                    if (open.name == port.name)
                      add(open.port, hostOf(one) + "." + std::string(base));
                  }
                });
  }
  return reply;
}

// 7.0.96.10.in-addr.arpa: a service's address has a name; others are not ours.
std::optional<Reply> NameBook::byAddress(const Question& question) const {
  const std::vector<std::string_view> labels = split(question.name, '.');
  if (labels.size() != 6) return std::nullopt;
  const std::string ip = fmt::format("{}.{}.{}.{}", labels[3], labels[2], labels[1], labels[0]);
  for (const auto& [key, entry] : services_) {
    if (entry.service->clusterIp != ip) continue;
    const Halves name = cut(key, '/');
    Reply reply;
    if (wants(question, dns::kTypePtr))
      reply.records.push_back(
          {question.name, dns::kTypePtr, 5,
           fmt::format("{}.{}.svc.{}", name.after, name.before, kClusterDomain)});
    return reply;
  }
  return std::nullopt;
}

std::vector<std::string> serversIn(std::string_view resolverText) {
  std::vector<std::string> out;
  for (std::string_view line : split(resolverText, '\n')) {
    const std::vector<std::string_view> words = splitTrimmed(line, ' ');
    if (words.size() >= 2 && words[0] == "nameserver") out.emplace_back(words[1]);
  }
  return out;
}

std::optional<std::string> resolverFile(const ResolverWish& wish, std::string_view ns,
                                        bool hostNetwork, std::string_view server,
                                        std::string_view machine) {
  const bool cluster = wish.policy == "ClusterFirstWithHostNet" ||
                       ((wish.policy.empty() || wish.policy == "ClusterFirst") && !hostNetwork);
  std::vector<std::string> servers, searches, options;
  if (cluster && !server.empty()) {
    servers.emplace_back(server);
    searches = {fmt::format("{}.svc.{}", ns, kClusterDomain), fmt::format("svc.{}", kClusterDomain),
                std::string(kClusterDomain)};
    options = {"ndots:5"};
  } else if (wish.policy != "None") {
    if (wish.servers.empty() && wish.searches.empty() && wish.options.empty()) return std::nullopt;
    servers = serversIn(machine);
  }
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& more,
                      size_t most) {
    for (const std::string& one : more)
      if (to.size() < most && std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  };
  add(servers, wish.servers, kMostServers);
  add(searches, wish.searches, kMostSearches);
  for (const std::string& option : wish.options) {
    const std::string_view name = cut(option, ':').before;
    std::erase_if(options, [&](const std::string& one) { return cut(one, ':').before == name; });
    options.push_back(option);
  }
  std::string out = "# written by mangrove for this pod\n";
  for (const std::string& one : servers) out += "nameserver " + one + "\n";
  if (!searches.empty()) out += "search " + join(searches, " ") + "\n";
  if (!options.empty()) out += "options " + join(options, " ") + "\n";
  return out;
}

}  // namespace mangrove::runtime
