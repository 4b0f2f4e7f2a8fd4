#include "placement/quota/remedy.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::placement {

namespace {

constexpr int kMostSteps = 256;  // of growing a change
constexpr int kPatience = 8;     // steps after which a minimum alone is not believed to help
constexpr int kMostPasses = 8;   // of making it smaller
constexpr int64_t kTooMuch = int64_t{1} << 61;

class Search {
 public:
  Search(const QuotaLedger& ledger, QuotaId id, const Amounts& asked, PodKind kind,
         const AdmissionRules& rules)
      : trial_(ledger), id_(id), asked_(asked), kind_(kind), rules_(rules) {}

  std::vector<QuotaChange> find() {
    if (admits() || !grow()) return {};
    for (int pass = 0; pass < kMostPasses; pass++)
      if (!shrink()) break;
    std::erase_if(changes_, [](const QuotaChange& change) { return change.amount == 0; });
    return changes_;
  }

 private:
  bool admits() const { return !judge(trial_, id_, asked_, kind_, rules_); }

  bool grow() {
    for (int step = 0; step < kMostSteps; step++) {
      const auto refusals = judgeAll(trial_, id_, asked_, kind_, rules_);
      if (refusals.empty()) return true;
      for (const QuotaRefusal& refusal : refusals)
        for (const Shortage& shortage : refusal.shortages)
          if (!answer(refusal, shortage, step)) return false;
    }
    return false;
  }

  // One change more against one shortage. Others made before it may have helped already.
  bool answer(const QuotaRefusal& refusal, const Shortage& shortage, int step) {
    const bool fixed = refusal.check == QuotaCheck::kNonPreemptible;
    QuotaChange change;
    change.quota = refusal.quota;
    change.resource = shortage.resource;
    change.amount = shortage.missing();
    change.pods = fixed ? PodKind::kFixed : PodKind::kPreemptible;
    const QuotaId holder = holderBelow(refusal.quota, shortage.resource, fixed);
    if (holder != kNoQuota && step < kMostSteps / 2) {
      change.quota = holder;
      change.amount = std::min(change.amount, ownUse(holder, shortage.resource, fixed));
      return extend(change);
    }
    const int64_t wanted = saturatingSum(shortage.used, shortage.asked);
    change.pods = PodKind::kPreemptible;
    change.kind = !fixed && trial_.terms(refusal.quota).max.amount(shortage.resource) < wanted
                      ? QuotaChange::Kind::kRaiseMax
                      : QuotaChange::Kind::kRaiseMin;
    if (!extend(change)) return false;
    if (change.kind == QuotaChange::Kind::kRaiseMax || fixed || step < kPatience) return true;
    return raiseAbove(refusal.quota, change);
  }

  // A minimum that shrinks with its siblings' needs more above it.
  bool raiseAbove(QuotaId quota, QuotaChange change) {
    for (QuotaId at = trial_.parentOf(quota); at != kRootId; at = trial_.parentOf(at)) {
      change.quota = at;
      for (const auto kind : {QuotaChange::Kind::kRaiseMin, QuotaChange::Kind::kRaiseMax}) {
        change.kind = kind;
        if (!extend(change)) return false;
      }
    }
    change.kind = QuotaChange::Kind::kRaiseTotal;
    change.quota = kRootId;
    return extend(change);
  }

  int64_t ownUse(QuotaId id, Interned resource, bool fixed) const {
    const QuotaNumbers& numbers = trial_.numbers(id);
    return fixed ? numbers.selfFixedUsed.amount(resource)
                 : saturatingDifference(numbers.selfUsed.amount(resource),
                                        numbers.selfFixedUsed.amount(resource));
  }

  // Who gives back: the one that borrows most, then the one that uses most.
  QuotaId holderBelow(QuotaId top, Interned resource, bool fixed) const {
    QuotaId best = kNoQuota;
    std::pair<int64_t, int64_t> most{0, 0};
    for (QuotaId id : trial_.all()) {
      const int64_t own = ownUse(id, resource, fixed);
      if (own <= 0 || !trial_.isBelow(id, top)) continue;
      const int64_t borrowed =
          std::max<int64_t>(0, saturatingDifference(trial_.used(id).amount(resource),
                                                    trial_.terms(id).min.amount(resource)));
      const std::pair<int64_t, int64_t> here{std::min(borrowed, own), own};
      if (best != kNoQuota && here <= most) continue;
      best = id;
      most = here;
    }
    return best;
  }

  bool extend(const QuotaChange& more) {
    if (more.amount <= 0) return true;
    for (QuotaChange& known : changes_) {
      if (known.kind != more.kind || known.quota != more.quota || known.resource != more.resource ||
          known.pods != more.pods)
        continue;
      // What did not suffice is doubled: the search must end where shares grow slowly.
      const bool gives = known.kind == QuotaChange::Kind::kGiveBack;
      const int64_t by = gives ? more.amount : std::max(more.amount, known.amount);
      return set(known, saturatingSum(known.amount, by));
    }
    changes_.push_back(more);
    changes_.back().amount = 0;
    return set(changes_.back(), more.amount);
  }

  bool set(QuotaChange& change, int64_t amount) {
    if (amount > kTooMuch) return false;
    QuotaChange step = change;
    step.amount = amount - change.amount;
    apply(trial_, step);
    change.amount = amount;
    return true;
  }

  // Each part down to the least that still admits with the others as they are. Whether one became
  // smaller.
  bool shrink() {
    bool smaller = false;
    for (QuotaChange& change : changes_) {
      const int64_t before = change.amount;
      int64_t enough = before, tooLittle = -1;
      while (enough - tooLittle > 1) {
        const int64_t middle = tooLittle + (enough - tooLittle) / 2;
        set(change, middle);
        (admits() ? enough : tooLittle) = middle;
      }
      set(change, enough);
      smaller = smaller || enough < before;
    }
    return smaller;
  }

  QuotaLedger trial_;
  QuotaId id_;
  const Amounts& asked_;
  PodKind kind_;
  AdmissionRules rules_;
  std::vector<QuotaChange> changes_;
};

void raise(Amounts& amounts, Interned resource, int64_t by) {
  amounts.set(resource, saturatingSum(amounts.amount(resource), by));
}

}  // namespace

void apply(QuotaLedger& ledger, const QuotaChange& change, int sign) {
  const int64_t amount = change.amount * sign;
  if (change.kind == QuotaChange::Kind::kGiveBack) {
    Amounts given;
    given.set(change.resource, amount);
    ledger.use(change.quota, given, -1, change.pods);
    return ledger.request(change.quota, given, -1, change.pods);
  }
  if (change.kind == QuotaChange::Kind::kRaiseTotal) {
    Amounts total = ledger.total();
    raise(total, change.resource, amount);
    return ledger.setTotal(std::move(total));
  }
  QuotaTerms terms = ledger.terms(change.quota);
  const bool isMax = change.kind == QuotaChange::Kind::kRaiseMax;
  raise(isMax ? terms.max : terms.min, change.resource, amount);
  ledger.put(std::move(terms));
}

std::vector<QuotaChange> leastChange(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                     PodKind kind, const AdmissionRules& rules) {
  return Search(ledger, id, asked, kind, rules).find();
}

std::string textOf(const QuotaLedger& ledger, const QuotaChange& change) {
  const std::string amount = quantityOf(change.resource, change.amount).text();
  const std::string& quota = ledger.terms(change.quota).name;
  switch (change.kind) {
    case QuotaChange::Kind::kGiveBack:
      return fmt::format("{} of {} must be given back by {}pods of quota {}", amount,
                         change.resource.view(),
                         change.pods == PodKind::kFixed ? "non-preemptible " : "", quota);
    case QuotaChange::Kind::kRaiseMax:
      return fmt::format("spec.max of quota {} must rise by {} of {}", quota, amount,
                         change.resource.view());
    case QuotaChange::Kind::kRaiseMin:
      return fmt::format("spec.min of quota {} must rise by {} of {}", quota, amount,
                         change.resource.view());
    case QuotaChange::Kind::kRaiseTotal:
      return fmt::format("the nodes of the tree must have {} more of {}", amount,
                         change.resource.view());
  }
  return "";
}

}  // namespace mangrove::placement
