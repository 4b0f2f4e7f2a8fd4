#include "placement/plugins/elasticquota/page.h"

#include <algorithm>

#include "base/text/time_text.h"
#include "placement/quota/loans.h"
#include "placement/quota/remedy.h"

namespace mangrove::placement {

namespace {

json::Object listed(const Amounts& amounts) {
  return quantitiesOf(amounts).toJson();
}

json::Object numbersOf(const QuotaDesk& desk, const QuotaPlace& place, std::string_view treeId,
                       const QuotaBook::ByQuota& reserved) {
  const QuotaTerms& terms = place.ledger->terms(place.id);
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  json::Array children;
  for (QuotaId child : place.ledger->childrenOf(place.id))
    children.emplace_back(place.ledger->terms(child).name);
  const QuotaId parent = place.ledger->parentOf(place.id);
  const Quota* object = desk.book().quotas().find(terms.name);
  const auto held = reserved.find({place.ledger, place.id});
  return {{"name", terms.name},
          {"tree", treeId},
          {"parentName", parent == kNoQuota ? "" : place.ledger->terms(parent).name},
          {"isParent", object != nullptr && object->isParent},
          {"runtimeVersion", static_cast<int64_t>(place.ledger->changes())},
          {"children", std::move(children)},
          {"allowLentResource", terms.lends},
          {"min", listed(terms.min)},
          {"max", listed(terms.max)},
          {"sharedWeight", listed(terms.weight)},
          {"autoScaleMin", listed(numbers.scaledMin)},
          {"request", listed(numbers.request)},
          {"childRequest", listed(numbers.childRequest)},
          {"used", listed(numbers.used)},
          {"reserved", listed(held == reserved.end() ? Amounts() : held->second)},
          {"nonPreemptibleRequest", listed(numbers.fixedRequest)},
          {"nonPreemptibleUsed", listed(numbers.fixedUsed)},
          {"allocated", listed(numbers.allocated)},
          {"guaranteed", listed(numbers.guaranteed)},
          {"runtime", listed(numbers.runtime)}};
}

std::string treeOf(const QuotaDesk& desk, const QuotaPlace& place) {
  for (const auto& [treeId, tree] : desk.book().trees())
    if (tree.get() == place.ledger) return treeId;
  return "";
}

std::string beganAt(const Borrowings& borrowings, const std::string& quota, Interned resource) {
  const auto known = borrowings.find(quota);
  if (known == borrowings.end()) return "";
  const auto at = known->second.find(resource);
  return at == known->second.end() ? "" : formatTime(at->second);
}

json::Array told(const QuotaLedger& ledger, const std::vector<Loan>& loans,
                 const Borrowings& borrowings) {
  json::Array out;
  for (const Loan& loan : loans) {
    const std::string& borrower = ledger.terms(loan.borrower).name;
    out.push_back(
        json::Object{{"borrower", borrower},
                     {"lender", loan.lender == kNoQuota ? "" : ledger.terms(loan.lender).name},
                     {"resource", loan.resource.view()},
                     {"amount", quantityOf(loan.resource, loan.amount).text()},
                     {"since", beganAt(borrowings, borrower, loan.resource)}});
  }
  return out;
}

json::Object quotaOf(const QuotaDesk& desk, const Borrowings& borrowings, const QuotaPlace& place) {
  json::Object out = numbersOf(desk, place, treeOf(desk, place), desk.book().reserved());
  out["borrows"] = borrowedBy(place, borrowings);
  const QuotaId parent = place.ledger->parentOf(place.id);
  if (parent != kNoQuota)
    out["loansBeside"] = told(*place.ledger, loansBelow(*place.ledger, parent), borrowings);
  size_t waiting = 0, running = 0;
  json::Object pods;
  desk.book().eachPod([&](const api::Uid&, const QuotaPod& pod, const QuotaPlace& where) {
    if (!(where == place)) return;
    if (!pod.reserves) (pod.assigned ? running : waiting)++;
    pods[pod.ns.str() + "/" + pod.name] =
        json::Object{{"isAssigned", pod.assigned}, {"resource", listed(*pod.request)}};
  });
  out["podsWaiting"] = waiting;
  out["podsRunning"] = running;
  out["podCache"] = std::move(pods);
  return out;
}

json::Object refusalOf(const QuotaLedger& ledger, const QuotaRefusal& refusal) {
  static constexpr std::string_view kNames[] = {"quota", "non-preemptible", "parent"};
  json::Array shortages, path;
  for (const Shortage& one : refusal.shortages)
    shortages.push_back(json::Object{{"resource", one.resource.view()},
                                     {"used", quantityOf(one.resource, one.used).text()},
                                     {"asked", quantityOf(one.resource, one.asked).text()},
                                     {"limit", quantityOf(one.resource, one.limit).text()},
                                     {"missing", quantityOf(one.resource, one.missing()).text()},
                                     {"text", textOf(one)}});
  for (QuotaId step : refusal.path) path.emplace_back(ledger.terms(step).name);
  return {{"check", kNames[static_cast<size_t>(refusal.check)]},
          {"quota", ledger.terms(refusal.quota).name},
          {"path", std::move(path)},
          {"shortages", std::move(shortages)}};
}

json::Object podOf(const QuotaDesk& desk, const api::Uid& uid, const QuotaPod& pod) {
  const QuotaPlace place = desk.book().placeOf(uid);
  json::Object out{{"quota", place ? place.name() : ""},
                   {"running", pod.assigned},
                   {"asks", listed(*pod.request)}};
  if (!place || pod.assigned) return out;
  json::Array refusals, changes;
  for (const QuotaRefusal& refusal :
       judgeAll(*place.ledger, place.id, *pod.request, pod.kind, desk.rules()))
    refusals.push_back(refusalOf(*place.ledger, refusal));
  for (const QuotaChange& change :
       leastChange(*place.ledger, place.id, *pod.request, pod.kind, desk.rules()))
    changes.emplace_back(textOf(*place.ledger, change));
  const QuotaBook::Line line = desk.book().lineOf(uid);
  const auto objection = desk.objection({place, pod.request, pod.kind});
  if (objection) out["objection"] = *objection;
  out["admitted"] = refusals.empty() && !objection;
  out["refusals"] = std::move(refusals);
  out["mustHappen"] = std::move(changes);
  out["placeInLine"] = line.before + 1;
  out["waitingInQuota"] = line.waiting;
  return out;
}

}  // namespace

Borrowings borrowingsOn(const Cluster& cluster) {
  Borrowings out;
  for (const auto& [key, object] : cluster.elasticQuotas)
    if (Since since = placement::sinceOf(*object); !since.empty())
      out[object->meta.name.str()] = std::move(since);
  return out;
}

json::Array borrowedBy(const QuotaPlace& place, const Borrowings& borrowings) {
  json::Array out;
  if (place.ledger->terms(place.id).apart) return out;
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  for (const auto& [name, used] : numbers.used) {
    const int64_t amount = saturatingDifference(used, numbers.scaledMin.amount(name));
    if (amount <= 0) continue;
    out.push_back(json::Object{{"resource", name.view()},
                               {"amount", quantityOf(name, amount).text()},
                               {"since", beganAt(borrowings, place.name(), name)}});
  }
  return out;
}

json::Array loansOf(const QuotaLedger& ledger, const Borrowings& borrowings) {
  return told(ledger, allLoans(ledger), borrowings);
}

std::optional<json::Value> quotaPage(const QuotaDesk& desk, const Borrowings& borrowings,
                                     std::string_view path) {
  constexpr std::string_view kPod = "pods/";
  if (path == "quotas") {
    json::Object all;
    const QuotaBook::ByQuota reserved = desk.book().reserved();
    for (const auto& [treeId, tree] : desk.book().trees())
      for (QuotaId id : tree->all()) {
        json::Object one = numbersOf(desk, {tree.get(), id}, treeId, reserved);
        one["borrows"] = borrowedBy({tree.get(), id}, borrowings);
        all[tree->terms(id).name] = std::move(one);
      }
    return json::Value(std::move(all));
  }
  for (std::string_view prefix : {"quota/", "quotas/"}) {
    if (!path.starts_with(prefix)) continue;
    const QuotaPlace place = desk.book().find(path.substr(prefix.size()));
    if (!place) return std::nullopt;
    return json::Value(quotaOf(desk, borrowings, place));
  }
  if (!path.starts_with(kPod)) return std::nullopt;
  const api::Uid uid(path.substr(kPod.size()));
  const QuotaPod* pod = desk.book().podOf(uid);
  if (pod == nullptr) return std::nullopt;
  return json::Value(podOf(desk, uid, *pod));
}

}  // namespace mangrove::placement
