#include "agent/qos/interference/reporter.h"

#include <utility>

#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

const Logger log("interference");

client::Request requestFor(const api::InterferenceReport& report, bool made) {
  const client::Ref ref{api::kind::kInterferenceReport, report.meta.ns.str(),
                        report.meta.name.str(), ""};
  json::Object body{{"spec", toJson(report.spec)}, {"status", toJson(report.status)}};
  if (made) return client::patchRequest(ref, client::PatchType::kMerge, json::write(body));
  body["apiVersion"] = "colocation.mangrove.io/v1alpha1";
  body["kind"] = "InterferenceReport";
  body["metadata"] = {{"name", ref.name}, {"namespace", ref.ns}};
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {ref.kind, ref.ns, "", ""};  // a new object has its name in its body only
  out.body = json::write(body);
  return out;
}

}  // namespace

void InterferenceReporter::tell(std::vector<api::InterferenceReport> reports) {
  for (api::InterferenceReport& report : reports) {
    const std::string key = report.meta.ns.str() + "/" + report.meta.name.str();
    if (told_.size() >= kMost && told_.count(key) == 0) continue;
    told_[key].next = std::move(report);
    send(key);
  }
}

void InterferenceReporter::send(const std::string& key) {
  Told& told = told_[key];
  if (told.underWay || !told.next) return;
  client::Request request = requestFor(*told.next, told.made);
  told.sent = std::move(*std::exchange(told.next, std::nullopt));
  told.underWay = true;
  client_.submit(
      owner_, std::move(request),
      life_.guard([this, key](const Result<client::Reply>& reply) { answered(key, reply); }));
}

// What is there already was made by a predecessor, and is brought up to date; a report that cannot be
// written is said and let go: the agent has it in its own state, and the next news tries again.
void InterferenceReporter::answered(const std::string& key, const Result<client::Reply>& reply) {
  Told& told = told_[key];
  told.underWay = false;
  const bool exists = !reply && reply.error().code() == Code::kExists;
  if (!reply && !exists) log.warn("InterferenceReport {}: {}", key, reply.error().text());
  if (exists && !told.made && !told.next) told.next = told.sent;
  told.made = told.made || reply || exists;
  if (told.next) return send(key);
  if (!told.sent.status.outcome.empty() || !told.made) told_.erase(key);
}

}  // namespace mangrove::agent
