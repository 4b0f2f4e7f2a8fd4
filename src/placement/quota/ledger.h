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
  // The moment at which that was last so for the quota or one above it; compared with now(). Who
  // was refused after it is refused still.
  uint64_t easedAt(QuotaId id) const;
  uint64_t now() const { return moment_; }
  // Grows with every change of any number.
  uint64_t changes() const { return relief_ + taken_; }

 private:
  struct Node {
    QuotaTerms terms;
    QuotaNumbers numbers;
    bool live = false;
    bool splitStale = true;  // its children's runtime is not what it should be
    QuotaId parent = kNoQuota;
    std::vector<QuotaId> children;
    Amounts counted;  // names of its own and its ancestors' maxima
    Amounts pastUse;
    uint64_t eased = 0;  // when its limit changed or its use became smaller
  };

  void settle() const;  // after changes of the tree
  void link();
  std::vector<QuotaId> topDown() const;
  void sumUp(QuotaId id);
  void addUp(QuotaId id, const Amounts& amounts, int sign, Amounts QuotaNumbers::*number);
  void requestChanged(QuotaId id);
  void allocationChanged(QuotaId id);
  void refresh(QuotaId id) const;
  void split(QuotaId id);
  std::vector<int64_t> scaledOf(const Node& parent, Interned name, int64_t amount) const;
  std::vector<int64_t> weightsOf(const Node& parent, Interned name, int64_t amount) const;

  LedgerRules rules_;
  std::vector<Node> nodes_;
  std::vector<QuotaId> free_;  // places of quotas that are gone
  std::map<std::string, QuotaId, std::less<>> byName_;
  std::vector<QuotaId> apart_;
  Amounts total_;
  Amounts names_;  // of all maxima
  bool treeStale_ = true;
  uint64_t relief_ = 0;
  uint64_t taken_ = 0;  // uses that were added
  uint64_t moment_ = 1;
};

// The weight of somebody whose fair part of the total is `part` and who has borrowed `past` lately:
// halved when he borrowed as much as his part all the time.
int64_t fadedWeight(int64_t weight, int64_t part, int64_t past);

}  // namespace mangrove::placement
