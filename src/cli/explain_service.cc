// mangrove explain service [NAMESPACE/]NAME: whether it suffers from its neighbours, since when, who
// was proved to be the cause, and what is done about it.
#include <algorithm>

#include <fmt/format.h>

#include "api/interference/report.h"
#include "api/wire/decode.h"
#include "base/text/time_text.h"
#include "cli/cluster_access.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "net/loop.h"

namespace mangrove::cli {
namespace {

using api::InterferenceReport;

constexpr size_t kShown = 10;

// Pods of a workload begin with its name.
bool isAbout(const InterferenceReport& report, const std::string& service) {
  const std::string_view pod =
      std::string_view(report.spec.victim).substr(report.spec.victim.find('/') + 1);
  return pod == service || pod.starts_with(service + "-") ||
         report.spec.application.ends_with("/" + service) || report.spec.application == service;
}

Result<std::vector<InterferenceReport>> reportsOf(client::ApiClient& client, const std::string& ns,
                                                  const std::string& service) {
  std::vector<InterferenceReport> out;
  const auto page = client.list(api::kind::kInterferenceReport, ns);
  if (!page && page.error().code() == Code::kNotFound) return out;
  if (!page) return pass(page.error());
  for (const std::string_view text : page->items) {
    auto report = api::decodeText<InterferenceReport>(text);
    if (report && isAbout(*report, service)) out.push_back(std::move(*report));
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.spec.start > b.spec.start; });
  return out;
}

std::string timelineOf(const InterferenceReport& report) {
  std::string out;
  for (const api::InterferenceSuspect& one : report.status.suspects)
    out += fmt::format("  suspect {} (score {:.2f}, correlation {:.2f}, share {:.2f}): {}\n",
                       one.pod, one.score, one.correlation, one.share,
                       one.verdict.empty() ? "not tried" : one.verdict);
  for (const api::InterferenceAction& one : report.status.actions)
    out += fmt::format("  {} {}\n", formatTime(one.time), one.action);
  return out;
}

const api::InterferenceSuspect* guiltyIn(const InterferenceReport& report) {
  for (const api::InterferenceSuspect& one : report.status.suspects)
    if (one.verified == "guilty") return &one;
  return nullptr;
}

// In how many episodes the same work was found guilty: pods of a job have other names each time.
size_t timesProved(const std::vector<InterferenceReport>& reports, const InterferenceReport& of) {
  const api::InterferenceSuspect* guilty = guiltyIn(of);
  if (guilty == nullptr) return 0;
  return static_cast<size_t>(
      std::count_if(reports.begin(), reports.end(), [&](const InterferenceReport& one) {
        const api::InterferenceSuspect* other = guiltyIn(one);
        return other && (other->pod == guilty->pod || (!guilty->application.empty() &&
                                                       other->application == guilty->application));
      }));
}

Told tell(const std::string& service, const std::vector<InterferenceReport>& reports) {
  Told out;
  if (reports.empty()) {
    out.answer = fmt::format("nobody saw {} suffer from its neighbours", service);
    out.todo = {"agents look with --feature-gates=InterferencePSI=true (docs/interference.md)"};
    return out;
  }
  out.answer = sentenceOf(reports.front(), timesProved(reports, reports.front()));
  out.good = reports.front().status.end != kZeroTime;
  out.terms = timelineOf(reports.front());
  json::Array all;
  for (size_t i = 0; i < reports.size(); ++i) {
    if (i > 0 && i < kShown) out.terms += "before: " + sentenceOf(reports[i]) + "\n";
    all.push_back(json::Object{{"name", reports[i].meta.name.view()},
                               {"spec", toJson(reports[i].spec)},
                               {"status", toJson(reports[i].status)}});
  }
  out.data["episodes"] = std::move(all);
  return out;
}

}  // namespace

int explainService(const std::vector<std::string>& args) {
  ClusterAccess access;
  Output output;
  std::vector<std::string> names;
  std::string ns = "default";
  frame::Flags flags("mangrove explain service",
                     "whether a service suffers from its neighbours, and what is done about it");
  access.declare(flags);
  output.declare(flags);
  flags.add("n", ns, "namespace of the service");
  flags.positionals("SERVICE", names, "name of a pod or of its workload, or NAMESPACE/NAME");
  if (const auto end = readArguments(flags, args)) return *end;
  if (names.size() != 1)
    return complain(flags, invalid("want the name of one service").value(), kWrongUsage);
  std::string service = names[0];
  if (const size_t slash = service.find('/'); slash != std::string::npos) {
    ns = service.substr(0, slash);
    service = service.substr(slash + 1);
  }
  net::Loop loop;
  const auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  const auto reports = reportsOf(**client, ns, service);
  if (!reports) return complain(flags, reports.error());
  return say(tell(ns + "/" + service, *reports), output);
}

}  // namespace mangrove::cli
