#include "placement/plugins/elasticquota/page.h"

#include <algorithm>

#include "base/text/time_text.h"
#include "placement/quota/remedy.h"

namespace mangrove::placement {

namespace {

json::Object listed(const Amounts& amounts) {
  return quantitiesOf(amounts).toJson();
}

json::Object numbersOf(const QuotaPlace& place, std::string_view treeId) {
  const QuotaTerms& terms = place.ledger->terms(place.id);
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  json::Array children;
  for (QuotaId child : place.ledger->childrenOf(place.id))
    children.emplace_back(place.ledger->terms(child).name);
  const QuotaId parent = place.ledger->parentOf(place.id);
  return {{"name", terms.name},
          {"treeId", treeId},
          {"parent", parent == kNoQuota ? "" : place.ledger->terms(parent).name},
          {"children", std::move(children)},
          {"lends", terms.lends},
          {"min", listed(terms.min)},
          {"max", listed(terms.max)},
          {"weight", listed(terms.weight)},
          {"scaledMin", listed(numbers.scaledMin)},
          {"request", listed(numbers.request)},
          {"childRequest", listed(numbers.childRequest)},
          {"used", listed(numbers.used)},
          {"nonPreemptibleUsed", listed(numbers.fixedUsed)},
          {"guaranteed", listed(numbers.guaranteed)},
          {"runtime", listed(numbers.runtime)}};
}

std::string treeOf(const QuotaDesk& desk, const QuotaPlace& place) {
  for (const auto& [treeId, tree] : desk.book().trees())
    if (tree.get() == place.ledger) return treeId;
  return "";
}

// Siblings of a quota that leave part of their minimum unused: what a borrower among them has
// comes from there, and before that from what nobody's minimum covers.
json::Array lendersBeside(const QuotaPlace& place) {
  json::Array out;
  const QuotaLedger& ledger = *place.ledger;
  const QuotaId parent = ledger.parentOf(place.id);
  if (parent == kNoQuota) return out;
  for (QuotaId sibling : ledger.childrenOf(parent)) {
    if (sibling == place.id || !ledger.terms(sibling).lends) continue;
    Amounts lent = ledger.numbers(sibling).scaledMin;
    lent.subtract(ledger.used(sibling));
    lent.holdAboveZero();
    lent.dropZeros();
    if (!lent.empty())
      out.push_back(json::Object{{"quota", ledger.terms(sibling).name}, {"lends", listed(lent)}});
  }
  return out;
}

json::Array borrowedBy(const QuotaPlace& place, const Borrowings& borrowings) {
  json::Array out;
  const auto known = borrowings.find(place.name());
  if (known == borrowings.end()) return out;
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  for (const auto& [name, since] : known->second) {
    const int64_t amount =
        saturatingDifference(numbers.used.amount(name), numbers.scaledMin.amount(name));
    out.push_back(json::Object{{"resource", name.view()},
                               {"amount", quantityOf(name, amount).text()},
                               {"since", formatTime(since)}});
  }
  return out;
}

json::Object quotaOf(const QuotaDesk& desk, const Borrowings& borrowings, const QuotaPlace& place) {
  json::Object out = numbersOf(place, treeOf(desk, place));
  out["borrows"] = borrowedBy(place, borrowings);
  out["lenders"] = lendersBeside(place);
  json::Array beside;
  const QuotaId parent = place.ledger->parentOf(place.id);
  if (parent != kNoQuota)
    for (QuotaId sibling : place.ledger->childrenOf(parent)) {
      const QuotaPlace other{place.ledger, sibling};
      if (sibling == place.id || !borrowings.contains(other.name())) continue;
      beside.push_back(
          json::Object{{"quota", other.name()}, {"borrows", borrowedBy(other, borrowings)}});
    }
  out["borrowersBeside"] = std::move(beside);
  size_t waiting = 0, running = 0;
  desk.book().eachPod([&](const api::Uid&, const QuotaPod& pod, const QuotaPlace& where) {
    if (where == place) (pod.assigned ? running : waiting)++;
  });
  out["podsWaiting"] = waiting;
  out["podsRunning"] = running;
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
  out["admitted"] = refusals.empty();
  out["refusals"] = std::move(refusals);
  out["mustHappen"] = std::move(changes);
  out["placeInLine"] = line.before + 1;
  out["waitingInQuota"] = line.waiting;
  return out;
}

}  // namespace

std::optional<json::Value> quotaPage(const QuotaDesk& desk, const Borrowings& borrowings,
                                     std::string_view path, WallTime) {
  constexpr std::string_view kQuotas = "quotas", kOne = "quotas/", kPod = "pods/";
  if (path == kQuotas) {
    json::Array all;
    for (const auto& [treeId, tree] : desk.book().trees())
      for (QuotaId id : tree->all()) {
        json::Object one = numbersOf({tree.get(), id}, treeId);
        one["borrows"] = borrowedBy({tree.get(), id}, borrowings);
        all.push_back(std::move(one));
      }
    return json::Value(std::move(all));
  }
  if (path.starts_with(kOne)) {
    const QuotaPlace place = desk.book().find(path.substr(kOne.size()));
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
