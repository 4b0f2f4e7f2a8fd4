#include "cli/reservation_wish.h"

#include <fmt/format.h>

#include "api/annotations/reservation.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::cli {
namespace {

Result<> addAmount(std::string_view name, std::string_view text, json::Object& out) {
  const auto amount = Quantity::parse(text);
  if (!amount) return invalid("{}: '{}' is no amount, want something like 8 or 16Gi", name, text);
  out[name] = text;
  return {};
}

Result<json::Object> amountsOf(const ReservationWish& wish) {
  json::Object out;
  if (!wish.cpu.empty())
    if (auto ok = addAmount("cpu", wish.cpu, out); !ok) return pass(ok.error());
  if (!wish.memory.empty())
    if (auto ok = addAmount("memory", wish.memory, out); !ok) return pass(ok.error());
  for (const std::string& entry : wish.resources) {
    const size_t at = entry.find('=');
    if (at == std::string::npos)
      return invalid("--resource '{}': want NAME=AMOUNT, e.g. kubernetes.io/batch-cpu=4000", entry);
    if (auto ok = addAmount(entry.substr(0, at), entry.substr(at + 1), out); !ok)
      return pass(ok.error());
  }
  if (out.empty()) return invalid("nothing to reserve: want --cpu, --memory or --resource");
  return out;
}

Result<json::Array> ownersOf(const ReservationWish& wish) {
  json::Array out;
  for (const std::string& owner : wish.owners) {
    json::Object labels;
    for (std::string_view pair : split(owner, ',')) {
      const size_t at = pair.find('=');
      if (at == std::string_view::npos || at == 0)
        return invalid("--owner '{}': want labels of the pods it is for, e.g. app=web", owner);
      labels[pair.substr(0, at)] = pair.substr(at + 1);
    }
    out.push_back(
        json::Object{{"labelSelector", json::Object{{"matchLabels", std::move(labels)}}}});
  }
  if (out.empty()) return invalid("for whom? want --owner LABEL=VALUE");
  return out;
}

Result<json::Object> annotationsOf(const ReservationWish& wish, WallTime now) {
  if (wish.start.empty()) return json::Object();
  auto start = parseTime(wish.start);
  if (const auto later = parseDuration(wish.start); !start && later && *later > Duration::zero())
    start = now + std::chrono::ceil<WallTime::duration>(*later);
  if (!start || *start <= now)
    return invalid("--start '{}': want a time to come, e.g. 2h or 2026-03-01T12:00:00Z",
                   wish.start);
  return json::Object{{api::annotation::kReservationStart, formatTime(*start)}};
}

}  // namespace

Result<json::Value> reservationOf(const ReservationWish& wish, std::string_view suffix,
                                  WallTime now) {
  auto annotations = annotationsOf(wish, now);
  if (!annotations) return pass(annotations.error());
  auto amounts = amountsOf(wish);
  if (!amounts) return pass(amounts.error());
  auto owners = ownersOf(wish);
  if (!owners) return pass(owners.error());
  if (wish.duration < Duration::zero()) return invalid("--for: want a time above 0, or 0 for ever");
  if (wish.policy != "Aligned" && wish.policy != "Restricted")
    return invalid("--policy '{}': want Aligned or Restricted", wish.policy);
  json::Object pod{
      {"schedulerName", wish.scheduler},
      {"containers", json::Array{json::Object{
                         {"name", "room"}, {"resources", json::Object{{"requests", *amounts}}}}}}};
  if (!wish.node.empty()) pod["nodeName"] = wish.node;
  if (!wish.priority.empty()) {
    const auto priority = parseInt<int32_t>(wish.priority);
    if (!priority) return invalid("--priority '{}': want a whole number", wish.priority);
    pod["priority"] = *priority;
  }
  const std::string name = wish.name.empty() ? fmt::format("reserve-{}", suffix) : wish.name;
  return json::Object{{"apiVersion", "scheduling.koordinator.sh/v1alpha1"},
                      {"kind", "Reservation"},
                      {"metadata", json::Object{{"name", name}, {"annotations", *annotations}}},
                      {"spec", json::Object{{"owners", std::move(*owners)},
                                            {"ttl", formatDuration(wish.duration)},
                                            {"allocateOnce", !wish.many},
                                            {"allocatePolicy", wish.policy},
                                            {"template", json::Object{{"spec", std::move(pod)}}}}}};
}

}  // namespace mangrove::cli
