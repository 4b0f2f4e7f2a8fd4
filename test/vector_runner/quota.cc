// Quota trees: the split of one resource, the numbers of whole trees, and admission.
#include "placement/quota/judge.h"
#include "placement/quota/split.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

constexpr std::pair<std::string_view, std::string_view> kUnits[] = {{"cpu_milli", "cpu"},
                                                                    {"memory_bytes", "memory"}};

std::string_view plainName(std::string_view key) {
  for (const auto& [unit, plain] : kUnits)
    if (key == unit) return plain;
  return key;
}

std::string_view unitName(std::string_view key) {
  for (const auto& [unit, plain] : kUnits)
    if (key == plain) return unit;
  return key;
}

Amounts amounts(const json::Object& c, std::string_view key) {
  Amounts out;
  if (const json::Value& list = member(c, key); list.is_object())
    for (const auto& [name, amount] : list.get_object())
      out.set(Interned(plainName(name)), amount.to_number<int64_t>());
  return out;
}

json::Object shown(const Amounts& list) {
  json::Object out;
  for (const auto& [name, amount] : list) out[unitName(name.view())] = amount;
  return out;
}

bool flag(const json::Object& c, std::string_view key) {
  const json::Value& value = member(c, key);
  return value.is_bool() && value.get_bool();
}

QuotaTerms termsOf(const json::Object& quota) {
  QuotaTerms out;
  out.name = text(quota, "name");
  out.parent = text(quota, "parent");
  out.lends = flag(quota, "lent");
  out.min = amounts(quota, "min");
  out.max = amounts(quota, "max");
  out.weight = quota.contains("shared_weight") ? amounts(quota, "shared_weight") : out.max;
  return out;
}

void count(QuotaLedger& ledger, const json::Object& pod, bool assigned) {
  const QuotaId id = ledger.find(text(pod, "quota"));
  const PodKind kind = flag(pod, "preemptible") ? PodKind::kPreemptible : PodKind::kFixed;
  ledger.request(id, amounts(pod, "request"), +1, kind);
  if (assigned) ledger.use(id, amounts(pod, "request"), +1, kind);
}

void expectSum(Report& r, const std::string& where, const json::Object& want, std::string_view key,
               const Amounts& got) {
  if (!want.contains(key)) return;
  if (!amounts(want, key).equalAmounts(got))
    r.mismatch(where + "." + std::string(key), json::write(member(want, key)),
               json::write(shown(got)));
}

void expectNumbers(Report& r, const json::Object& want, const QuotaLedger& ledger, QuotaId id) {
  const std::string& name = ledger.terms(id).name;
  const QuotaNumbers& got = ledger.numbers(id);
  expectSum(r, name, want, "request", got.request);
  expectSum(r, name, want, "child_request", got.childRequest);
  expectSum(r, name, want, "used", got.used);
  expectSum(r, name, want, "non_preemptible_used", got.fixedUsed);
  expectSum(r, name, want, "scaled_min", got.scaledMin);
  expectSum(r, name, want, "allocated", got.allocated);
  expectSum(r, name, want, "guaranteed", got.guaranteed);
  r.expect(name + ".runtime", member(want, "runtime"), shown(got.runtime));
}

json::Object verdict(const QuotaLedger& ledger, const std::optional<QuotaRefusal>& refusal) {
  if (!refusal) return {{"admitted", true}};
  static constexpr std::string_view kNames[] = {"quota", "non-preemptible", "parent"};
  json::Array exceed, path;
  for (const Shortage& one : refusal->shortages) exceed.emplace_back(one.resource.view());
  json::Object out{{"admitted", false},
                   {"check", kNames[static_cast<size_t>(refusal->check)]},
                   {"exceed", exceed}};
  for (QuotaId step : refusal->path) path.emplace_back(ledger.terms(step).name);
  if (refusal->check == QuotaCheck::kParent) out["path"] = path;
  return out;
}

void wholeTree(const json::Object& c, Report& r, bool guarantee) {
  QuotaLedger ledger({flag(c, "enableMinQuotaScale"), guarantee});
  ledger.setTotal(amounts(c, "total"));
  for (const json::Value& quota : c.at("quotas").get_array())
    ledger.put(termsOf(quota.get_object()));
  for (const json::Value& pod : c.at("pods").get_array())
    count(ledger, pod.get_object(), flag(pod.get_object(), "assigned"));
  const json::Object& incoming = c.at("incoming").get_object();
  count(ledger, incoming, false);
  const json::Object& result = c.at("result").get_object();
  for (const auto& [name, want] : result.at("quotas").get_object())
    expectNumbers(r, want.get_object(), ledger, ledger.find(name));
  const AdmissionRules rules{flag(c, "enableRuntimeQuota"), flag(c, "enableCheckParentQuota")};
  const PodKind kind = flag(incoming, "preemptible") ? PodKind::kPreemptible : PodKind::kFixed;
  const auto refusal = judge(ledger, ledger.find(text(incoming, "quota")),
                             amounts(incoming, "request"), kind, rules);
  r.expect("incoming", member(result, "incoming"), verdict(ledger, refusal));
}

}  // namespace

void quotaWaterfill(const json::Object& c, Report& r) {
  std::map<std::string, Share> byName;
  for (const json::Value& value : c.at("children").get_array()) {
    const json::Object& child = value.get_object();
    const auto whole = [&](std::string_view key) { return child.at(key).to_number<int64_t>(); };
    byName[std::string(text(child, "name"))] = {whole("weight"), whole("request"),
                                                std::max(whole("min"), whole("guarantee")),
                                                flag(child, "lent")};
  }
  std::vector<Share> shares;
  for (const auto& [name, share] : byName) shares.push_back(share);
  const auto runtime = waterFill(c.at("total").to_number<int64_t>(), shares);
  json::Object got;
  size_t i = 0;
  for (const auto& [name, share] : byName) got[name] = runtime[i++];
  r.expect("runtime", member(c, "runtime"), got);
}

void quotaTree(const json::Object& c, Report& r) {
  wholeTree(c, r, false);
}

void quotaGuarantee(const json::Object& c, Report& r) {
  wholeTree(c, r, true);
}

}  // namespace mangrove::vectors
