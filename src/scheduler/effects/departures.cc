#include "scheduler/effects/departures.h"

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "json/print.h"
#include "json/value.h"

namespace mangrove::scheduler {

// Text without a tree: a storm of preemptors marks thousands of victims a second.
std::string victimStatus(std::string_view profile, WallTime now) {
  std::string out =
      R"({"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":)";
  json::appendString(fmt::format("{}: preempting to accommodate a higher priority pod", profile),
                     out);
  out.append(R"(,"lastTransitionTime":")").append(formatTime(now)).append(R"("}]})");
  return out;
}

std::string revokedStatus(std::string_view reason, WallTime now) {
  return json::write(json::Object{
      {"conditions", json::Array{json::Object{{"type", "DisruptionTarget"},
                                              {"status", "True"},
                                              {"reason", "QuotaOveruse"},
                                              {"message", reason},
                                              {"lastTransitionTime", formatTime(now)}}}}});
}

client::Request victimDeletion(const api::ObjectMeta& victim) {
  client::DeleteOptions options;
  options.uid = victim.uid;
  auto request =
      client::deleteRequest({api::kind::kPod, victim.ns.str(), victim.name.str()}, options);
  request.repeat = client::Repeat::kSafe;  // it names the uid
  return request;
}

client::Request eviction(const api::ObjectMeta& pod) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {api::kind::kPod, pod.ns.str(), pod.name.str(), "eviction"};
  request.body = json::write(json::Object{
      {"apiVersion", "policy/v1"},
      {"kind", "Eviction"},
      {"metadata", json::Object{{"name", pod.name.view()}, {"namespace", pod.ns.view()}}},
      {"deleteOptions", json::Object{{"preconditions", json::Object{{"uid", pod.uid.str()}}}}}});
  return request;
}

}  // namespace mangrove::scheduler
