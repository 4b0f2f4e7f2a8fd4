// What an episode leaves for the agent after a killed one.
#include <algorithm>

#include "agent/interference/episode.h"
#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

// Reads what may be anything; what is not there, or is something else, is the default.
class Reader {
 public:
  explicit Reader(const json::Value* value) : top_(value ? value->if_object() : nullptr) {}
  bool isObject() const { return top_ != nullptr; }
  const json::Value* member(const char* name) const {
    return top_ ? top_->if_contains(name) : nullptr;
  }
  std::string text(const char* name) const {
    const json::Value* value = member(name);
    return value && value->is_string() ? std::string(std::string_view(value->get_string())) : "";
  }
  double number(const char* name) const {
    const json::Value* value = member(name);
    return value && value->is_number() ? value->to_number<double>() : 0;
  }
  bool flag(const char* name) const {
    const json::Value* value = member(name);
    return value && value->is_bool() && value->get_bool();
  }
  WallTime time(const char* name) const {
    const auto at = parseTime(text(name));
    return at ? *at : WallTime{};
  }
  const json::Array& list(const char* name) const {
    static const json::Array kNone;
    const json::Value* value = member(name);
    return value && value->is_array() ? value->get_array() : kNone;
  }

 private:
  const json::Object* top_;
};

template <class Enum>
Enum enumOf(double number, Enum most) {
  return static_cast<Enum>(std::clamp(number, 0.0, static_cast<double>(most)));
}

json::Value stateOf(const Finding& finding) {
  return json::Object{{"resource", resourceName(finding.resource)},
                      {"evidence", static_cast<int>(finding.evidence)},
                      {"signal", finding.signal},
                      {"observed", finding.observed},
                      {"fence", finding.fence},
                      {"threshold", finding.threshold},
                      {"perUnit", finding.perUnit}};
}

Finding findingOf(const Reader& from) {
  return {resourceNamed(from.text("resource")).value_or(Resource::kUnknown),
          enumOf(from.number("evidence"), Evidence::kLatency),
          from.text("signal"),
          from.number("observed"),
          from.number("fence"),
          from.number("threshold"),
          from.number("perUnit")};
}

json::Value stateOf(const Verdict& verdict) {
  return json::Object{{"kind", static_cast<int>(verdict.kind)},
                      {"effect", verdict.effect},
                      {"low", verdict.low},
                      {"high", verdict.high},
                      {"pairs", verdict.pairs},
                      {"why", verdict.why}};
}

Verdict verdictOf(const Reader& from) {
  Verdict out;
  out.kind = enumOf(from.number("kind"), Verdict::Kind::kInnocent);
  out.effect = from.number("effect");
  out.low = from.number("low");
  out.high = from.number("high");
  out.pairs = static_cast<size_t>(std::clamp(from.number("pairs"), 0.0, 1000.0));
  out.why = from.text("why");
  return out;
}

}  // namespace

json::Value Episode::state() const {
  json::Array suspects, actions, caps;
  for (const auto& [uid, one] : suspects_)
    suspects.push_back(json::Object{{"uid", uid},
                                    {"name", one.name},
                                    {"application", one.application},
                                    {"score", one.score},
                                    {"correlation", one.correlation},
                                    {"share", one.share},
                                    {"tried", one.tried},
                                    {"verdict", stateOf(one.verdict)}});
  for (const api::InterferenceAction& one : actions_)
    actions.push_back(json::Object{{"time", formatMicroTime(one.time)}, {"action", one.action}});
  for (const WallTime at : hardCaps_) caps.emplace_back(formatMicroTime(at));
  json::Object out{{"uid", uid_},
                   {"namespace", ns_},
                   {"name", name_},
                   {"application", application_},
                   {"qos", static_cast<int>(qos_)},
                   {"band", static_cast<int>(band_)},
                   {"finding", stateOf(finding_)},
                   {"start", formatMicroTime(start_)},
                   {"ladder", ladder_.state()},
                   {"suspects", std::move(suspects)},
                   {"actions", std::move(actions)},
                   {"hardCaps", std::move(caps)},
                   {"antagonist", antagonist_},
                   {"antagonistUsual", antagonistUsual_}};
  if (series_)
    out["series"] = json::Object{
        {"suspect", suspect_}, {"usual", suspectUsual_},           {"start", seriesStart_},
        {"excess", excess_},   {"wanted", series_->rules().pairs}, {"pairs", series_->state()}};
  return out;
}

std::optional<Episode> Episode::restore(const json::Value& state, uint64_t seed) {
  const Reader from(&state);
  if (from.text("uid").empty()) return std::nullopt;
  Episode out;
  out.uid_ = from.text("uid");
  out.ns_ = from.text("namespace");
  out.name_ = from.text("name");
  out.application_ = from.text("application");
  out.qos_ = enumOf(from.number("qos"), api::Qos::kSystem);
  out.band_ = enumOf(from.number("band"), api::PriorityBand::kFree);
  out.finding_ = findingOf(Reader(from.member("finding")));
  out.start_ = out.nextStep_ = from.time("start");
  out.ladder_ = Ladder(out.finding_.resource, {});
  if (const json::Value* ladder = from.member("ladder")) out.ladder_.restore(*ladder);
  for (const json::Value& value : from.list("suspects")) {
    const Reader one(&value);
    if (one.text("uid").empty()) continue;
    out.suspects_[one.text("uid")] = {one.text("name"),    one.text("application"),
                                      one.number("score"), one.number("correlation"),
                                      one.number("share"), verdictOf(Reader(one.member("verdict"))),
                                      one.flag("tried")};
  }
  for (const json::Value& value : from.list("actions")) {
    const Reader one(&value);
    out.actions_.push_back({one.time("time"), one.text("action")});
  }
  for (const json::Value& value : from.list("hardCaps"))
    if (value.is_string())
      if (const auto at = parseTime(std::string_view(value.get_string())))
        out.hardCaps_.push_back(*at);
  out.antagonist_ = from.text("antagonist");
  if (out.suspects_.count(out.antagonist_) == 0) out.antagonist_.clear();
  out.antagonistUsual_ = from.number("antagonistUsual");
  const Reader series(from.member("series"));
  if (!series.isObject()) return out;
  out.suspect_ = series.text("suspect");
  out.suspectUsual_ = series.number("usual");
  out.seriesStart_ = series.number("start");
  out.excess_ = series.number("excess");
  SeriesRules rules;
  if (const double wanted = series.number("wanted"); wanted >= kLeastPairs && wanted <= 1000)
    rules.pairs = static_cast<size_t>(wanted);
  out.series_.emplace(rules, seed, out.excess_, out.suspectUsual_);
  if (const json::Value* pairs = series.member("pairs")) out.series_->restore(*pairs);
  return out;
}

}  // namespace mangrove::agent::interference
