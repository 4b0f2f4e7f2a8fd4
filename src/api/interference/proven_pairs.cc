#include "api/interference/proven_pairs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

constexpr size_t kMost = 32;
constexpr auto kKept = std::chrono::hours(24 * 28);

std::string textIn(const json::Object& from, const char* name) {
  const json::Value* value = from.if_contains(name);
  return value && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
}

// "web-7d9f8b6c5" of a ReplicaSet is web, "report-28934510" of a CronJob's Job report.
std::string_view withoutSuffix(std::string_view name, std::string_view kind) {
  if (kind != "ReplicaSet" && kind != "Job") return name;
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return name;
  const std::string_view suffix = name.substr(dash + 1);
  const bool digits = suffix.find_first_not_of("0123456789") == std::string_view::npos;
  return kind == "ReplicaSet" || (digits && suffix.size() >= 5) ? name.substr(0, dash) : name;
}

}  // namespace

std::vector<ProvenPair> parseProvenPairs(std::string_view text) {
  std::vector<ProvenPair> out;
  const auto parsed = json::parse(text);
  const json::Array* all = parsed ? parsed->if_array() : nullptr;
  if (all == nullptr) return out;
  for (const json::Value& value : *all) {
    const json::Object* one = value.if_object();
    if (one == nullptr) continue;
    const auto at = parseTime(textIn(*one, "at"));
    ProvenPair pair{textIn(*one, "victim"), textIn(*one, "by"), at ? *at : WallTime{}};
    if (at && !pair.victim.empty() && !pair.antagonist.empty()) out.push_back(std::move(pair));
  }
  return out;
}

std::string provenPairsText(const std::vector<ProvenPair>& pairs) {
  json::Array out;
  for (const ProvenPair& one : pairs)
    out.push_back(
        json::Object{{"victim", one.victim}, {"by", one.antagonist}, {"at", formatTime(one.at)}});
  return json::write(out);
}

std::vector<ProvenPair> withPair(std::vector<ProvenPair> pairs, ProvenPair fresh, WallTime now) {
  pairs.push_back(std::move(fresh));
  std::erase_if(pairs, [&](const ProvenPair& one) { return one.at < now - kKept; });
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ProvenPair& a, const ProvenPair& b) { return a.at < b.at; });
  if (pairs.size() > kMost) pairs.erase(pairs.begin(), pairs.end() - static_cast<ptrdiff_t>(kMost));
  return pairs;
}

std::string workloadClassOf(std::string_view ns, const Labels& labels, const OwnerReference* owner,
                            std::string_view podName) {
  for (const char* label : {"app.kubernetes.io/name", "app"})
    if (const auto said = labels.get(label); said && !said->empty())
      return fmt::format("{}/{}", ns, *said);
  if (owner != nullptr)
    return fmt::format("{}/{}", ns, withoutSuffix(owner->name.view(), owner->kind.view()));
  return fmt::format("{}/{}", ns, podName);
}

}  // namespace mangrove::api
