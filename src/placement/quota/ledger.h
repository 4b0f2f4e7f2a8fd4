#pragma once
// The numbers of one quota tree: what is asked for, what is used and what each quota may use at the
// moment (its runtime), kept by delta as pods come and go.
//
//   QuotaLedger ledger({.scaleMins = true});
//   ledger.put({.name = "team-a", .parent = "koordinator-root-quota", .min = …, .max = …});
//   ledger.setTotal({{"cpu", 96000}});
//   ledger.request(id, {{"cpu", 4000}}, +1);   ledger.use(id, {{"cpu", 4000}}, +1);
//   ledger.runtime(id)                         // divided anew only where something changed
//
// A parent sees of a child what it asks for, held down to its maximum; what is used adds up as it
// is. The children of a quota are divided over the names of its maximum, those of the root over all
// names. Default and system quota stand apart: they are limited by their maximum only, and what
// they use is missing in the total of the others. A name that a quota's maximum lacks is counted
// for the quotas above it that have it; a name that is not divided above a quota is limited by the
// maximum alone.
//
// Reading divides lazily, so that const means "no number changes". Owner thread only.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "placement/quota/amounts.h"
#include "placement/quota/split.h"

namespace mangrove::placement {

using QuotaId = uint32_t;
inline constexpr QuotaId kNoQuota = ~QuotaId{0};
inline constexpr QuotaId kRootId = 0;

struct QuotaTerms {
  std::string name;
  std::string parent;  // unknown, or its own descendant: counts at the top
  bool lends = true;
  bool apart = false;  // default and system quota
  Amounts min, max, weight;
  bool operator==(const QuotaTerms&) const = default;
};

struct LedgerRules {
  bool scaleMins = true;
  bool guaranteeUsage = false;  // what runs is a floor too, and nobody lends
};

struct QuotaNumbers {
  Amounts selfRequest, selfUsed;            // of pods directly in it, every name they have
  Amounts selfFixedRequest, selfFixedUsed;  // of those that may not be preempted
  Amounts childRequest, request, limitRequest;
  Amounts used, fixedRequest, fixedUsed;
  Amounts allocated, guaranteed;  // with guaranteeUsage only
  Amounts scaledMin, runtime;
};

// Whose pods: all, or also counted among those that may not be preempted.
enum class PodKind : uint8_t { kPreemptible, kFixed };

class QuotaLedger {
 public:
  explicit QuotaLedger(LedgerRules rules = {});

  // ---- the tree
  QuotaId put(QuotaTerms terms);  // new or changed, by name
  // Its children count at the top until they have a parent again; its own counts must be gone.
  void erase(QuotaId id);
  QuotaId find(std::string_view name) const;
  const QuotaTerms& terms(QuotaId id) const { return nodes_[id].terms; }
  bool live(QuotaId id) const { return id < nodes_.size() && nodes_[id].live; }
  QuotaId parentOf(QuotaId id) const;                        // kNoQuota for the root
  bool isBelow(QuotaId id, QuotaId top) const;               // or the same
  const std::vector<QuotaId>& childrenOf(QuotaId id) const;  // by name, without those apart
  std::vector<QuotaId> all() const;                          // without the root, by name
  bool holdsPods(QuotaId id) const;
  void setTotal(Amounts total);
  const Amounts& total() const { return total_; }
  Amounts dividedTotal() const;  // less what default and system quota use
  const LedgerRules& rules() const { return rules_; }

  // ---- pods: sign +1 or -1
  void request(QuotaId id, const Amounts& amounts, int sign, PodKind kind = PodKind::kPreemptible);
  // kTrial: only looked at, and undone before anybody could be helped by it.
  enum class Meant : uint8_t { kReal, kTrial };
  void use(QuotaId id, const Amounts& amounts, int sign, PodKind kind = PodKind::kPreemptible,
           Meant meant = Meant::kReal);
  // What a quota borrowed in the past, faded: makes its weight smaller. Empty: none.
  void setPastUse(QuotaId id, Amounts past);

  // ---- numbers
  const QuotaNumbers& numbers(QuotaId id) const;  // runtime and scaledMin up to date
  const Amounts& used(QuotaId id) const;
  const Amounts& fixedUsed(QuotaId id) const;
  const Amounts& runtime(QuotaId id) const { return numbers(id).runtime; }
  // What a quota may use of a resource: runtime or, where it is not divided (or `byRuntime` is
  // off), the maximum; never more than the maximum. False: not limited here.
  bool limitOf(QuotaId id, Interned resource, bool byRuntime, int64_t& limit) const;
  // Grows whenever a limit may have become larger or a use smaller, somewhere.
  uint64_t relief() const { return relief_; }
  // The moment at which that was last so for this quota itself; compared with now(). Whom it
  // refused after it is refused by it still.
  uint64_t easedAt(QuotaId id) const {
    refresh(id);
    return eased_[id];
  }
  uint64_t now() const { return moment_; }
  // Grows with every change of any number.
  uint64_t changes() const { return relief_ + taken_; }
  // visit(id) for every quota that eased after the moment; whose numbers or terms changed after so
  // many touches(). The rest costs next to nothing.
  template <class Visit>
  void eachEased(uint64_t after, Visit visit) const {
    refreshAll();
    for (QuotaId id = 0; id < eased_.size(); id++)
      if (eased_[id] > after && nodes_[id].live) visit(id);
  }
  template <class Visit>
  void eachTouched(uint64_t after, Visit visit) const {
    refreshAll();
    for (QuotaId id = kRootId + 1; id < touched_.size(); id++)
      if (touched_[id] > after && nodes_[id].live) visit(id);
  }
  uint64_t touches() const {
    refreshAll();
    return touches_;
  }

 private:
  // How one resource of a quota is divided among its children. While there is enough for all, a
  // child has what it asks for whatever the others do, and a change concerns that child alone.
  struct Plenty {
    Interned name;
    int64_t total = 0, minSum = 0;
    int64_t left = 0;  // after everybody has what he asks for; below 0: there is not enough
  };
  struct Node {
    QuotaTerms terms;
    QuotaNumbers numbers;
    bool live = false;
    bool splitStale = true;   // its children's runtime is not what it should be
    bool staleBelow = false;  // the same for it, or for somebody below it
    QuotaId parent = kNoQuota;
    std::vector<QuotaId> children;
    std::vector<Plenty> plenty;  // as its amounts were divided last
    Amounts counted;             // names of its own and its ancestors' maxima
    Amounts pastUse;
  };

  void settle() const;  // after changes of the tree
  void link();
  std::vector<QuotaId> topDown() const;
  void sumUp(QuotaId id);
  void addUp(QuotaId id, Interned name, int64_t amount, Amounts QuotaNumbers::*number);
  void requestChanged(QuotaId id, Interned name);
  void allocationChanged(QuotaId id);
  void refresh(QuotaId id) const;
  void refreshAll() const;
  void divideBelow(QuotaId id);
  void split(QuotaId id);
  Plenty splitOne(Node& parent, Interned name, int64_t amount, bool scales);
  void setRuntime(QuotaId id, Interned name, int64_t amount);
  bool follow(QuotaId child, Interned name, int64_t before, int64_t now);
  void totalChanged(QuotaId id, Interned name, int64_t by);
  void markStale(QuotaId id);
  void touch(QuotaId id) { touched_[id] = ++touches_; }
  void scaledOf(const Node& parent, Interned name, int64_t amount);
  void weightsOf(const Node& parent, Interned name, int64_t amount);

  LedgerRules rules_;
  std::vector<Node> nodes_;
  // By quota, beside the nodes so that looking through all of them is quick: when its limit changed
  // or its use became smaller; when any of its numbers changed.
  std::vector<uint64_t> eased_, touched_;
  std::vector<QuotaId> free_;  // places of quotas that are gone
  std::map<std::string, QuotaId, std::less<>> byName_;
  std::vector<QuotaId> apart_;
  Amounts total_;
  Amounts names_;  // of all maxima
  bool treeStale_ = true;
  uint64_t relief_ = 0;
  uint64_t taken_ = 0;  // uses that were added
  uint64_t moment_ = 1;
  uint64_t touches_ = 0;
  // Of the last change, kept for the next one.
  struct Step {
    QuotaId quota;
    int64_t before, now;  // what the parent sees of its request
  };
  std::vector<Step> steps_;
  std::vector<int64_t> mins_, weights_;
  std::vector<Share> shares_;
  WaterFill waterFill_;
};

// The weight of somebody whose fair part of the total is `part` and who has borrowed `past` lately:
// halved when he borrowed as much as his part all the time.
int64_t fadedWeight(int64_t weight, int64_t part, int64_t past);

}  // namespace mangrove::placement
