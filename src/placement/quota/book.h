#pragma once
// All quota trees and every pod that counts in them, each once: whoever is told twice about a pod,
// or told that a pod has a node after having reserved for it, counts it once.
//
//   QuotaBook book(rules);
//   book.put(quota);  book.setTotal(amountsOf(all nodes));
//   book.see(uid, {.label = …, .ns = …, .request = …, .assigned = false});
//   book.assign(uid);  …  book.unassign(uid);          // reserved, given back
//   QuotaPlace place = book.placeOf(uid);
//
// A pod whose quota is not there counts in the default quota until it appears, and again when it
// goes. With several trees each has its own total; what the trees have is missing in the default
// one's. Owner thread only.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/object/meta.h"
#include "base/number/units.h"
#include "placement/quota/ledger.h"
#include "placement/quota/quota.h"

namespace mangrove::placement {

struct BookRules {
  LedgerRules ledger = {};
  bool noDefaultQuota = false;  // gate DisableDefaultQuota: by label only, unknown counts nowhere
  bool manyTrees = false;       // gate MultiQuotaTree
  Amounts defaultMax = {}, systemMax = {};
};

struct QuotaPlace {
  QuotaLedger* ledger = nullptr;
  QuotaId id = kNoQuota;
  bool operator==(const QuotaPlace&) const = default;
  explicit operator bool() const { return ledger != nullptr; }
  const std::string& name() const { return ledger->terms(id).name; }
};

struct QuotaPod {
  Interned label;  // the quota it names; empty: none
  Interned ns;
  std::string name = {};  // without the namespace; for people
  std::shared_ptr<const Amounts> request;
  PodKind kind = PodKind::kPreemptible;
  bool assigned = false;  // has a node, or one is reserved for it
  bool reserves = false;  // it stands for a reservation, and counts for what nobody has taken of it
  int32_t priority = 0;
  WallTime created{};
};

class QuotaBook {
 public:
  explicit QuotaBook(BookRules rules = {});

  // ---- quotas, by "ns/name"
  // Whether the tree is another one now: what the scheduler itself writes on a quota is none.
  bool put(const std::string& key, Quota quota);
  bool erase(const std::string& key);
  void setTotal(Amounts ofAllNodes);
  const QuotaTree& quotas() const;  // as the webhooks have them
  // By tree id; "" is the default tree.
  const std::map<std::string, std::unique_ptr<QuotaLedger>, std::less<>>& trees() const;
  // Another number whenever the trees are others: quotas came, went or changed.
  uint64_t generation() const {
    settle();
    return generation_;
  }
  QuotaPlace find(std::string_view quota) const;
  // Where a pod with this label in this namespace counts; nowhere: quotas do not concern it.
  QuotaPlace resolve(std::string_view label, std::string_view ns) const;

  // ---- pods
  void see(const api::Uid& uid, QuotaPod pod);
  void gone(const api::Uid& uid);
  // False: it is not known, or was assigned (not assigned) before.
  using Meant = QuotaLedger::Meant;
  bool assign(const api::Uid& uid, Meant meant = Meant::kReal) {
    return setAssigned(uid, true, meant);
  }
  bool unassign(const api::Uid& uid, Meant meant = Meant::kReal) {
    return setAssigned(uid, false, meant);
  }
  // It counts for something else from now on.
  void setRequest(const api::Uid& uid, const std::shared_ptr<const Amounts>& request, Meant meant);
  QuotaPlace placeOf(const api::Uid& uid) const;
  const QuotaPod* podOf(const api::Uid& uid) const;
  size_t podCount() const { return pods_.size(); }
  // Whether it stands in somebody's line: noted here, where it is read anyway, so that those who
  // were never refused need not be looked for in a line of thousands.
  void setInLine(const api::Uid& uid, bool inLine);
  bool mayBeInLine(const api::Uid& uid) const;  // also whoever is not known
  // Told whenever a pod takes or leaves its place, trials included.
  using Assigned = std::function<void(const QuotaPlace&, const QuotaPod&, bool assigned)>;
  void onAssigned(Assigned fn) { onAssigned_ = std::move(fn); }
  // The lowest priority among the assigned pods of a quota; none: nobody is assigned there.
  std::optional<int32_t> lowestAssigned(const QuotaPlace& place) const;
  void eachPod(
      const std::function<void(const api::Uid&, const QuotaPod&, const QuotaPlace&)>& visit) const;
  // What reservations hold of quotas for owners that are still to come; above them, too.
  using ByQuota = std::map<std::pair<const QuotaLedger*, QuotaId>, Amounts>;
  ByQuota reserved() const;
  // How many of the pods that wait in the same quota come before this one: higher priority, then
  // earlier. And how many wait there at all.
  struct Line {
    size_t before = 0, waiting = 0;
  };
  Line lineOf(const api::Uid& uid) const;

 private:
  struct Record {
    QuotaPod pod;
    QuotaPlace place;
    bool inLine = false;
  };
  // How many pods of each priority are assigned in a quota; few priorities, lowest first.
  using Ranks = std::vector<std::pair<int32_t, int64_t>>;
  Record* recordOf(const api::Uid& uid) const;
  QuotaPlace placeFor(const QuotaPod& pod) const;
  void settle() const;
  void makeTrees();
  void place();
  void dropUnused();
  void setTotals();
  QuotaLedger& treeFor(const Quota& quota);
  QuotaTerms termsOf(const Quota& quota) const;
  bool setAssigned(const api::Uid& uid, bool assigned, Meant meant);
  void count(const Record& record, int sign);
  void noteAssigned(const Record& record, int sign);

  BookRules rules_;
  std::map<std::string, Quota> objects_;
  QuotaTree quotas_;
  std::map<std::string, std::unique_ptr<QuotaLedger>, std::less<>> trees_;
  using Pods = std::unordered_map<api::Uid, Record>;
  Pods pods_;
  // What was asked for last: one pod is asked about several times in a row.
  mutable const Pods::value_type* latest_ = nullptr;
  std::map<const QuotaLedger*, std::vector<Ranks>> assigned_;  // by quota
  Amounts total_;
  Assigned onAssigned_;
  mutable std::unordered_map<uint64_t, QuotaPlace> resolved_;  // by label and namespace
  uint64_t generation_ = 0;
  bool stale_ = true;
};

}  // namespace mangrove::placement
