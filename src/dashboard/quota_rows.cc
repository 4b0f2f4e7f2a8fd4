#include "dashboard/quota_rows.h"

#include <algorithm>
#include <map>

#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "placement/plugins/elasticquota/picture.h"
#include "placement/quota/loans.h"

namespace mangrove::dashboard {
namespace {

using placement::Amounts;
using placement::QuotaId;
using placement::QuotaLedger;

constexpr int64_t kUnlimited = int64_t{1} << 56;  // as large as what is written for "everything"

json::Value shown(Interned name, int64_t amount) {
  if (amount >= kUnlimited) return nullptr;
  const auto value = static_cast<double>(amount);
  return name == api::resourceNames().cpu ? value / 1000 : value;
}

json::Value shown(Interned name, const Amounts& amounts) {
  const int64_t* amount = amounts.find(name);
  return amount ? shown(name, *amount) : json::Value(nullptr);
}

std::string beganAt(const placement::Borrowings& borrowings, const std::string& quota,
                    Interned resource) {
  const auto known = borrowings.find(quota);
  if (known == borrowings.end()) return "";
  const auto at = known->second.find(resource);
  return at == known->second.end() ? "" : formatTime(at->second);
}

struct Counts {
  int64_t running = 0, waiting = 0;
};

class Board {
 public:
  explicit Board(placement::QuotaPicture& picture)
      : book_(picture.desk().book()),
        borrowings_(picture.borrowings()),
        reserved_(book_.reserved()) {
    book_.eachPod(
        [&](const api::Uid&, const placement::QuotaPod& pod, const placement::QuotaPlace& place) {
          if (!place || pod.reserves) return;
          Counts& counts = counts_[{place.ledger, place.id}];
          (pod.assigned ? counts.running : counts.waiting)++;
        });
  }

  json::Object all() {
    for (const auto& [treeId, tree] : book_.trees()) {
      for (QuotaId child : tree->childrenOf(placement::kRootId)) add(*tree, child, treeId, 0);
      for (QuotaId id : tree->all())
        if (tree->terms(id).apart && isUsed({tree.get(), id})) add(*tree, id, treeId, 0);
      for (const placement::Loan& loan : placement::allLoans(*tree)) add(*tree, loan);
    }
    return {{"quotas", std::move(quotas_)}, {"loans", std::move(loans_)}};
  }

 private:
  bool isUsed(const std::pair<const QuotaLedger*, QuotaId>& quota) const {
    return counts_.contains(quota) || reserved_.contains(quota);
  }
  json::Array resourcesOf(const QuotaLedger& ledger, QuotaId id) const {
    const placement::QuotaTerms& terms = ledger.terms(id);
    const placement::QuotaNumbers& n = ledger.numbers(id);
    std::map<std::string_view, Interned> names;
    for (const auto& [name, most] : terms.max) names[name.view()] = name;
    json::Array out;
    const auto reserved = reserved_.find({&ledger, id});
    const Amounts held = reserved == reserved_.end() ? Amounts() : reserved->second;
    for (const auto& [text, name] : names) {
      const int64_t more = terms.apart ? 0 : n.used.amount(name) - n.scaledMin.amount(name);
      out.push_back(json::Object{{"name", text},
                                 {"min", shown(name, n.scaledMin.amount(name))},
                                 {"used", shown(name, n.used.amount(name))},
                                 {"reserved", shown(name, held.amount(name))},
                                 {"runtime", shown(name, n.runtime)},
                                 {"max", shown(name, terms.max)},
                                 {"asked", shown(name, n.request.amount(name))},
                                 {"weight", shown(name, terms.weight)},
                                 {"borrows", shown(name, std::max<int64_t>(more, 0))},
                                 {"since", beganAt(borrowings_, terms.name, name)}});
    }
    return out;
  }
  void add(const QuotaLedger& ledger, QuotaId id, const std::string& treeId, int depth) {
    const placement::QuotaTerms& terms = ledger.terms(id);
    const Counts counts = counts_[{&ledger, id}];
    quotas_.push_back(json::Object{{"name", terms.name},
                                   {"parent", ledger.terms(ledger.parentOf(id)).name},
                                   {"depth", depth},
                                   {"tree", treeId},
                                   {"lends", terms.lends},
                                   {"running", counts.running},
                                   {"waiting", counts.waiting},
                                   {"resources", resourcesOf(ledger, id)}});
    for (QuotaId child : ledger.childrenOf(id)) add(ledger, child, treeId, depth + 1);
  }
  void add(const QuotaLedger& ledger, const placement::Loan& loan) {
    const std::string& borrower = ledger.terms(loan.borrower).name;
    const bool nobodys = loan.lender == placement::kNoQuota;
    loans_.push_back(json::Object{{"borrower", borrower},
                                  {"lender", nobodys ? "" : ledger.terms(loan.lender).name},
                                  {"resource", loan.resource.view()},
                                  {"amount", shown(loan.resource, loan.amount)},
                                  {"since", beganAt(borrowings_, borrower, loan.resource)}});
  }

  const placement::QuotaBook& book_;
  placement::Borrowings borrowings_;
  placement::QuotaBook::ByQuota reserved_;
  std::map<std::pair<const QuotaLedger*, QuotaId>, Counts> counts_;
  json::Array quotas_, loans_;
};

}  // namespace

json::Object quotaBoard(const ClusterView& view, const QuotaObjects& quotas, WallTime now) {
  auto args = placement::readQuotaArgs(nullptr);
  placement::QuotaPicture picture(args ? *args : placement::QuotaArgs());
  for (const auto& node : view.nodes) picture.node(node);
  for (const auto& quota : quotas) picture.quota(quota);
  for (const auto& pod : view.pods) picture.pod(*pod, now);
  for (const auto& reservation : view.reservations) picture.reservation(*reservation, now);
  return Board(picture).all();
}

}  // namespace mangrove::dashboard
