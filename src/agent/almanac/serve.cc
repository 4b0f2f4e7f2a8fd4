#include "agent/almanac/serve.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "agent/almanac/seasons.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kMostHours = 2 * 366 * 24;
constexpr int64_t kMostStep = 32 * 24 * 60;
constexpr int64_t kMostAhead = 24;

std::string parameter(std::string_view target, std::string_view name) {
  for (std::string_view one : split(cut(target, '?').after, '&'))
    if (const Halves pair = cut(one, '='); pair.before == name) return std::string(pair.after);
  return "";
}

Result<int64_t> numberOf(std::string_view target, std::string_view name, int64_t otherwise,
                         int64_t most) {
  const std::string text = parameter(target, name);
  if (text.empty()) return otherwise;
  const auto number = parseInt<int64_t>(text);
  if (!number || *number < 1 || *number > most)
    return invalid("{} '{}': want a number from 1 to {}", name, text, most);
  return *number;
}

json::Value toJson(const CellPart& part) {
  return json::Object{{"mean", part.mean}, {"p90", part.p90}, {"max", part.max}};
}

WallTime wallOf(int64_t minute) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::minutes(minute)));
}

int64_t minuteOf(WallTime at) {
  return std::chrono::duration_cast<std::chrono::minutes>(at.time_since_epoch()).count();
}

json::Value knownSubjects(const Almanac& almanac) {
  json::Array subjects;
  for (const std::string& one : almanac.subjects()) subjects.emplace_back(one);
  return json::Object{{"subjects", std::move(subjects)}, {"bytes", almanac.bytes()}};
}

Result<json::Value> answerAhead(const Almanac& almanac, const std::string& subject, int64_t hours,
                                int64_t now) {
  std::optional<AlmanacSample> most;
  for (int64_t hour = 0; hour < hours; hour += Seasons::kAhead / 60)
    if (const auto one = Seasons(almanac).coming(subject, now + hour * 60))
      most = AlmanacSample{std::max(one->cpu, most ? most->cpu : 0),
                           std::max(one->memory, most ? most->memory : 0)};
  json::Value coming = nullptr;
  if (most) coming = json::Object{{"cpuMilli", most->cpu}, {"memoryMiB", most->memory}};
  return json::Object{{"subject", subject}, {"hours", hours}, {"coming", std::move(coming)}};
}

// Prediction's question: the subject of a model, as a peak.
std::optional<Peak> comingPeak(Seasons& seasons, const std::string& subject, WallTime now) {
  const auto coming = seasons.coming(subject, minuteOf(now));
  if (!coming) return std::nullopt;
  return Peak{MilliCpu{static_cast<int64_t>(coming->cpu)},
              Bytes{static_cast<int64_t>(coming->memory * static_cast<double>(kMiB.v))}};
}

double numberAt(const json::Value& cell, const char* resource, const char* what) {
  return cell.at(resource).at(what).to_number<double>();
}

}  // namespace

Result<json::Value> answerAlmanac(const Almanac& almanac, std::string_view target, int64_t now) {
  const std::string subject = parameter(target, "subject");
  if (subject.empty()) return knownSubjects(almanac);
  if (!parameter(target, "ahead").empty()) {
    const auto ahead = numberOf(target, "ahead", 2, kMostAhead);
    return ahead ? answerAhead(almanac, subject, *ahead, now) : pass(ahead.error());
  }
  const auto hours = numberOf(target, "hours", 24, kMostHours);
  if (!hours) return pass(hours.error());
  const auto step = numberOf(target, "step", 1, kMostStep);
  if (!step) return pass(step.error());
  json::Array cells;
  for (const AlmanacAnswer& one : almanac.query({subject, now - *hours * 60, now + 1, *step}))
    cells.push_back(json::Object{{"start", formatTime(wallOf(one.start))},
                                 {"minutes", one.minutes},
                                 {"cpuMilli", toJson(one.cell.cpu)},
                                 {"memoryMiB", toJson(one.cell.memory)}});
  return json::Object{{"subject", subject}, {"cells", std::move(cells)}};
}

std::string almanacText(const json::Value& answer) {
  const json::Array& cells = answer.at("cells").as_array();
  std::string out =
      fmt::format("{:<22} {:>8} {:>24} {:>30}\n", answer.at("subject").as_string().c_str(),
                  "minutes", "cores mean/p90/max", "memory GiB mean/p90/max");
  for (const json::Value& one : cells) {
    const auto cores = [&](const char* what) { return numberAt(one, "cpuMilli", what) / 1000; };
    const auto gib = [&](const char* what) { return numberAt(one, "memoryMiB", what) / 1024; };
    out +=
        fmt::format("{:<22} {:>8} {:>24} {:>30}\n", one.at("start").as_string().c_str(),
                    one.at("minutes").to_number<int64_t>(),
                    fmt::format("{:.2f}/{:.2f}/{:.2f}", cores("mean"), cores("p90"), cores("max")),
                    fmt::format("{:.2f}/{:.2f}/{:.2f}", gib("mean"), gib("p90"), gib("max")));
  }
  return cells.empty() ? out + "nothing is known of that time\n" : out;
}

Result<std::string> tellAlmanac(const Almanac& almanac, std::string_view target,
                                const Clock& clock) {
  const auto answer = answerAlmanac(almanac, target, minuteOf(clock.wall()));
  return answer ? Result<std::string>(json::write(*answer)) : pass(answer.error());
}

std::shared_ptr<Almanac> keepAlmanac(Agent& agent, const std::string& dir, frame::OpsServer* ops,
                                     const Clock& clock, bool isAsked) {
  auto almanac = std::make_shared<Almanac>(dir);
  agent.onLook([almanac](const Look& look) { almanac->see(look); });
  if (isAsked)
    agent.askSeasons([almanac, seasons = std::make_shared<Seasons>(*almanac)](
                         const std::string& subject, WallTime now) {
      return comingPeak(*seasons, subject, now);
    });
  if (ops == nullptr) return almanac;
  ops->route("/almanac", [almanac, &clock](const net::HttpRequest& request) {
    const auto answer = tellAlmanac(*almanac, request.target, clock);
    if (!answer) return net::HttpResponse::text(400, answer.error().text() + "\n");
    return net::HttpResponse::json(200, *answer);
  });
  return almanac;
}

}  // namespace mangrove::agent
