#pragma once
// What ElasticQuota knows: the book of all trees and pods, fed from the cluster, and what a pod asks
// of its quota.
//
//   QuotaDesk desk(cluster, args, gates);
//   desk.see(pod);  desk.onNode(uid, true);
//   desk.verdict(pod)                         // nullopt: there is room
//
// Owner thread only.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/quota_gates.h"
#include "placement/plugins/elasticquota/args.h"
#include "placement/quota/book.h"
#include "placement/quota/judge.h"

namespace mangrove::placement {

class QuotaDesk {
 public:
  QuotaDesk(Cluster& cluster, QuotaArgs args, QuotaGates gates);

  QuotaBook& book() { return book_; }
  const QuotaBook& book() const { return book_; }
  const QuotaArgs& args() const { return args_; }
  AdmissionRules rules() const { return {args_.runtime, args_.checkParents}; }

  // ---- what there is
  // `counts`: what it counts for where that is not what it asks for: owners took part of the
  // reservation that it stands for. Null: what it asks for.
  using Counts = std::shared_ptr<const Amounts>;
  void see(const api::Pod& pod, bool onNode, WallTime now, Counts counts = nullptr);
  // The same pod counts for something else.
  void recount(const api::Pod& pod, const Counts& counts, QuotaBook::Meant meant) {
    book_.setRequest(pod.meta.uid, counts ? counts : requestOf(pod), meant);
  }
  void gone(const api::Uid& uid) { book_.gone(uid); }
  void nodeChanged(Row row);
  void nodeGone(Row row);
  // Whether the trees, or what hooks say of them, are others now.
  bool quotaChanged(std::string_view key);
  // Annotations of quotas that could not be read, by "ns/name"; they count as absent.
  const std::map<std::string, std::string>& faults() const { return faults_; }

  // ---- decisions
  struct Asked {
    QuotaPlace place;
    std::shared_ptr<const Amounts> request;
    PodKind kind = PodKind::kPreemptible;
    bool counted = true;  // its request is among those that the runtime was divided by
  };
  // Where the pod counts and with what; place is empty: quotas do not concern it.
  Asked askedBy(const api::Pod& pod);
  std::optional<QuotaRefusal> verdict(const Asked& asked) const;
  // The same if the pod took its part of a reservation, which counts for less then.
  bool admitsInside(const Asked& asked, const api::Uid& standIn) const;
  // The same for a pod that is counted as used already.
  std::optional<QuotaRefusal> verdictOnPlaced(const Asked& asked) const;
  // What a hook says against it; nullopt: nothing.
  std::optional<std::string> objection(const Asked& asked) const;
  bool isRefused(const Asked& asked) const { return verdict(asked) || objection(asked); }
  bool hasHooks() const { return !hooks_.empty(); }
  void addStatus(const QuotaPlace& place, json::Object& annotations) const;

 private:
  std::shared_ptr<const Amounts> requestOf(const api::Pod& pod);
  bool isIgnored(const api::Pod& pod, WallTime now) const;

  Cluster& cluster_;
  QuotaArgs args_;
  QuotaGates gates_;
  QuotaBook book_;
  std::vector<Amounts> ofRows_;  // what each node adds to the total
  Amounts total_;
  std::map<std::string, std::string> faults_;
  std::vector<std::unique_ptr<QuotaHook>> hooks_;
  // Of specs seen lately; the spec is kept so that its address is nobody else's.
  struct Known {
    api::Shared<api::PodSpec> spec;
    std::shared_ptr<const Amounts> request;
  };
  std::unordered_map<const api::PodSpec*, Known> requests_;
};

}  // namespace mangrove::placement
