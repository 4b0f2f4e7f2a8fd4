// The workload controllers over an embedded server in memory, on a virtual clock, with the test as
// kubelet:
//   apply JSON | patch KIND/NAME JSON | delete KIND/NAME [propagation=P] | node NAME
//   ready|unready|succeed|fail POD-PREFIX… [image=I] [count=N] [exit=N] [restarts=N]
//   wait DURATION | sets [PREFIX] | pods [PREFIX] | status KIND/NAME FIELD… | conditions KIND/NAME
//   | jobs | events KIND/NAME | list KIND
// Pods are shown by their names without the random end; NAME may end in '*', for the first that
// begins like that.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "apiserver/embedded.h"
#include "apiserver/in_process_client.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "json/view.h"
#include "script_runner/drivers.h"
#include "workloads/objects.h"
#include "workloads/workloads.h"

namespace mangrove::scripts {
namespace {

using client::Verb;

constexpr std::string_view kNs = "default";

struct Named {
  const api::Kind* kind;
  std::string name;
};

const api::Kind* kindCalled(std::string_view word) {
  for (const api::Kind& kind : api::allKinds())
    if (equalIgnoringCase(kind.kind, word)) return &kind;
  for (const api::Kind* kind :
       {&workloads::kEndpoints, &workloads::kEndpointSlice, &workloads::kControllerRevision})
    if (equalIgnoringCase(kind->kind, word)) return kind;
  return nullptr;
}

json::View at(json::View view, std::string_view path) {
  for (std::string_view part : split(path, '.'))
    view = view.isArray() ? view.at(parseInt<size_t>(part).value_or(0)) : view[part];
  return view;
}

std::string text(json::View view) {
  if (auto string = view.string()) return std::string(*string);
  std::string out;
  if (view.exists()) json::write(view, out);
  return view.exists() ? out : "-";
}

class WorkloadsDriver final : public Driver {
 public:
  WorkloadsDriver() {
    auto opened = apiserver::EmbeddedServer::open(clock_, owner_, metrics_, {.seed = 7});
    server_ = std::move(*opened);
    client_ = std::make_unique<apiserver::InProcessClient>(owner_, server_->server(),
                                                           apiserver::Identity::system());
    workloads_ = std::make_unique<workloads::Workloads>(
        workloads::WorkloadsSetup{client_.get(), &owner_, nullptr, &clock_, &metrics_});
    workloads_->start();
    settle();
  }
  ~WorkloadsDriver() override {
    workloads_.reset();
    settle();
  }

  std::string run(const std::vector<std::string>& commands) override {
    std::string out;
    for (const auto& line : commands) out += one(line);
    return out;
  }

 private:
  std::string one(const std::string& line) {
    const Command c = parseCommand(line);
    const std::string first = c.words.empty() ? "" : c.words[0];
    const size_t brace = line.find('{');
    const std::string body = brace == std::string::npos ? "" : line.substr(brace);
    if (c.verb == "apply") return apply(body);
    if (c.verb == "patch") return patch(first, body);
    if (c.verb == "delete") return remove(first, c.option("propagation", "Background"));
    if (c.verb == "node")
      return apply(
          fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}}}})", first));
    if (c.verb == "wait") return wait(first);
    if (c.verb == "sets") return sets(first);
    if (c.verb == "pods") return pods(first);
    if (c.verb == "jobs") return jobs();
    if (c.verb == "status") return status(first, {c.words.begin() + 1, c.words.end()});
    if (c.verb == "conditions") return conditions(first);
    if (c.verb == "events") return events(first);
    if (c.verb == "list") return list(first);
    if (c.verb == "ready" || c.verb == "unready" || c.verb == "succeed" || c.verb == "fail")
      return play(c);
    return fmt::format("error: unknown command '{}'\n", c.verb);
  }

  // Runs everything that is due, short delays of queues included.
  void settle() {
    for (int quiet = 0; quiet < 3;) {
      quiet = owner_.drain() > 0 ? 0 : quiet + 1;
      const Duration next = clock_.nextAt() - clock_.mono();
      if (clock_.pending() > 0 && next <= std::chrono::milliseconds(100)) {
        clock_.advance(std::max<Duration>(next, Duration::zero()));
        quiet = 0;
      }
    }
  }

  Result<client::Reply> call(client::Request request) {
    std::optional<Result<client::Reply>> answer;
    client_->submit(owner_, std::move(request),
                    [&](Result<client::Reply> reply) { answer = std::move(reply); });
    while (!answer) owner_.drain();
    return std::move(*answer);
  }

  std::string say(const Result<client::Reply>& reply) {
    settle();
    return reply ? "" : fmt::format("refused: {}\n", reply.error().sentence());
  }

  std::string apply(const std::string& body) {
    json::Doc doc;
    auto view = doc.parse(body);
    if (!view) return "error: " + view.error().text() + "\n";
    const auto* kind = kindCalled((*view)["kind"].string().value_or(""));
    if (!kind) return "error: unknown kind\n";
    client::Request request;
    request.verb = Verb::kCreate;
    request.ref = {*kind, kind->namespaced ? std::string(kNs) : "", ""};
    request.body = body;
    return say(call(std::move(request)));
  }

  std::optional<client::Ref> ref(const std::string& word, std::string subresource = {}) {
    const Halves parts = cut(word, '/');
    const auto* kind = kindCalled(parts.before);
    if (!kind) return std::nullopt;
    std::string name(parts.after);
    if (name.ends_with('*')) name = firstLike(*kind, name.substr(0, name.size() - 1));
    return client::Ref{*kind, kind->namespaced ? std::string(kNs) : "", std::move(name),
                       std::move(subresource)};
  }

  std::string firstLike(const api::Kind& kind, const std::string& prefix) {
    for (const auto& [name, doc] : all(kind))
      if (name.starts_with(prefix)) return name;
    return prefix;
  }

  std::string patch(const std::string& word, const std::string& body) {
    auto target = ref(word);
    if (!target) return "error: unknown kind\n";
    return say(call(client::patchRequest(*target, client::PatchType::kStrategic, body)));
  }

  std::string remove(const std::string& word, const std::string& propagation) {
    auto target = ref(word);
    if (!target) return "error: unknown kind\n";
    client::DeleteOptions options;
    options.propagationPolicy = propagation;
    return say(call(client::deleteRequest(*target, options)));
  }

  std::string wait(const std::string& word) {
    auto duration = parseDuration(word);
    if (!duration) return "error: " + duration.error().text() + "\n";
    const MonoTime end = clock_.mono() + *duration;
    while (clock_.mono() < end) {
      clock_.advance(std::min<Duration>(end - clock_.mono(), std::chrono::milliseconds(500)));
      settle();
    }
    return "";
  }

  // All objects of a kind, parsed, by name.
  std::map<std::string, std::unique_ptr<json::Doc>> all(const api::Kind& kind) {
    client::Request request;
    request.verb = Verb::kList;
    request.ref = {kind, kind.namespaced ? std::string(kNs) : "", ""};
    auto reply = call(std::move(request));
    std::map<std::string, std::unique_ptr<json::Doc>> out;
    json::Doc list;
    if (!reply || !list.parse(reply->body)) return out;
    for (json::View item : list.root()["items"].elements()) {
      std::string raw;
      json::write(item, raw);
      auto doc = std::make_unique<json::Doc>();
      if (doc->parse(raw)) out.emplace(text(item["metadata"]["name"]), std::move(doc));
    }
    return out;
  }

  // Without what chance or the template's hash put in.
  static std::string shortName(json::View object) {
    const auto prefix = object["metadata"]["generateName"].string();
    std::string name = prefix ? std::string(*prefix) + "*" : text(object["metadata"]["name"]);
    if (auto hash = object["metadata"]["labels"]["pod-template-hash"].string())
      if (size_t place = name.find(*hash); place != std::string::npos)
        name.replace(place, hash->size(), "#");
    return name;
  }

  static std::string withoutUids(std::string line) {
    constexpr std::string_view kKey = "\"uid\":\"";
    for (size_t place = line.find(kKey); place != std::string::npos;
         place = line.find(kKey, place + 1)) {
      const size_t from = place + kKey.size();
      line.replace(from, line.find('"', from) - from, "#");
    }
    return line;
  }

  static std::string podState(json::View pod) {
    if (pod["metadata"]["deletionTimestamp"].exists()) return "deleting";
    const std::string phase = text(at(pod, "status.phase"));
    for (json::View condition : at(pod, "status.conditions").elements())
      if (condition["type"].string() == "Ready" && condition["status"].string() == "True")
        return "ready";
    return lower(phase);
  }

  std::string pods(const std::string& prefix) {
    std::map<std::string, std::map<std::string, int>> groups;
    for (const auto& [name, doc] : all(api::kind::kPod)) {
      json::View pod = doc->root();
      if (!name.starts_with(prefix)) continue;
      ++groups[fmt::format("{} {}", shortName(pod),
                           text(at(pod, "spec.containers").at(0)["image"]))][podState(pod)];
    }
    std::string out;
    for (const auto& [name, states] : groups) {
      out += name + ":";
      for (const auto& [state, count] : states) out += fmt::format(" {} {}", count, state);
      out += "\n";
    }
    return out.empty() ? "none\n" : out;
  }

  std::string sets(const std::string& prefix) {
    std::vector<std::string> lines;
    for (const auto& [name, doc] : all(api::kind::kReplicaSet)) {
      json::View set = doc->root();
      if (!name.starts_with(prefix)) continue;
      lines.push_back(
          fmt::format("revision {} {}: wants {}, has {}, available {}\n",
                      text(set["metadata"]["annotations"]["deployment.kubernetes.io/revision"]),
                      text(at(set, "spec.template.spec.containers").at(0)["image"]),
                      text(at(set, "spec.replicas")), text(at(set, "status.replicas")),
                      text(at(set, "status.availableReplicas"))));
    }
    std::sort(lines.begin(), lines.end());
    std::string out;
    for (const auto& line : lines) out += line;
    return out.empty() ? "none\n" : out;
  }

  std::string jobs() {
    std::string out;
    for (const auto& [name, doc] : all(api::kind::kJob)) {
      json::View job = doc->root();
      out += fmt::format("{}: active {}, succeeded {}, failed {}\n", name,
                         text(at(job, "status.active")), text(at(job, "status.succeeded")),
                         text(at(job, "status.failed")));
    }
    return out.empty() ? "none\n" : out;
  }

  std::string list(const std::string& word) {
    const auto* kind = kindCalled(word);
    if (!kind) return "error: unknown kind\n";
    std::string out;
    for (const auto& [name, doc] : all(*kind)) {
      const json::View meta = doc->root()["metadata"];
      const json::View owner = meta["ownerReferences"].at(0);
      out += shortName(doc->root());
      if (owner.exists()) out += fmt::format(" of {}", text(owner["kind"]));
      out += meta["deletionTimestamp"].exists() ? " (going)\n" : "\n";
    }
    return out.empty() ? "none\n" : out;
  }

  Result<std::string> get(const std::string& word) {
    auto target = ref(word);
    if (!target) return invalid("unknown kind in '{}'", word);
    client::Request request;
    request.ref = *target;
    auto reply = call(std::move(request));
    if (!reply) return pass(reply.error());
    return std::move(reply->body);
  }

  std::string status(const std::string& word, const std::vector<std::string>& fields) {
    json::Doc doc;
    auto body = get(word);
    if (!body) return "error: " + body.error().sentence() + "\n";
    if (!doc.parse(*body)) return "error: no JSON\n";
    std::string out;
    for (const auto& field : fields) {
      const bool whole =
          field.find('.') != std::string::npos || field == "subsets" || field == "ports";
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", field,
                         text(at(whole ? doc.root() : doc.root()["status"], field)));
    }
    return withoutUids(out) + "\n";
  }

  std::string conditions(const std::string& word) {
    json::Doc doc;
    auto body = get(word);
    if (!body || !doc.parse(*body)) return "none\n";
    std::vector<std::string> lines;
    for (json::View c : at(doc.root(), "status.conditions").elements())
      lines.push_back(
          fmt::format("{}={} {}\n", text(c["type"]), text(c["status"]), text(c["reason"])));
    std::sort(lines.begin(), lines.end());
    std::string out;
    for (const auto& line : lines) out += line;
    return out.empty() ? "none\n" : out;
  }

  std::string events(const std::string& word) {
    const std::string name(cut(word, '/').after);
    std::map<std::string, int64_t> counts;
    for (const auto& [key, doc] : all(api::kind::kEvent)) {
      json::View event = doc->root();
      if (text(event["involvedObject"]["name"]) != name) continue;
      counts[text(event["reason"])] += event["count"].integer().value_or(1);
    }
    std::string out;
    for (const auto& [reason, count] : counts) out += fmt::format("{} x{}\n", reason, count);
    return out.empty() ? "none\n" : out;
  }

  // The kubelet's part: sets the status of pods whose name starts with one of the words.
  std::string play(const Command& c) {
    auto left = parseInt<int>(c.option("count", "1000")).value_or(0);
    const std::string image = c.option("image", "");
    for (const auto& [name, doc] : all(api::kind::kPod)) {
      const bool meant = std::any_of(c.words.begin(), c.words.end(),
                                     [&](const auto& word) { return name.starts_with(word); });
      const std::string state = podState(doc->root());
      if (!meant || state == "succeeded" || state == "failed" || state == "deleting") continue;
      if (state == "ready" && c.verb == "ready") continue;
      const json::View first = at(doc->root(), "spec.containers").at(0);
      if (!image.empty() && first["image"].string() != image) continue;
      if (left-- <= 0) break;
      auto reply = call(client::patchRequest({api::kind::kPod, std::string(kNs), name, "status"},
                                             client::PatchType::kStrategic, statusBody(c)));
      const bool gone = !reply && reply.error().code() == Code::kNotFound;  // deleted meanwhile
      if (!reply && !gone) return "error: " + reply.error().text() + "\n";
    }
    settle();
    return "";
  }

  std::string statusBody(const Command& c) const {
    const std::string now = formatTime(clock_.wall());
    const bool ended = c.verb == "succeed" || c.verb == "fail";
    const char* phase = c.verb == "succeed" ? "Succeeded" : c.verb == "fail" ? "Failed" : "Running";
    const std::string state =
        ended ? fmt::format(R"({{"terminated":{{"exitCode":{},"finishedAt":"{}"}}}})",
                            c.verb == "fail" ? c.option("exit", "1") : "0", now)
              : R"({"running":{}})";
    return fmt::format(
        R"({{"status":{{"phase":"{}","podIP":"10.0.0.9","conditions":[{{"type":"Ready","status":"{}","lastTransitionTime":"{}"}}],)"
        R"("containerStatuses":[{{"name":"c","image":"i","imageID":"","ready":{},"restartCount":{},"state":{}}}]}}}})",
        phase, c.verb == "ready" ? "True" : "False", now, c.verb == "ready",
        c.option("restarts", "0"), state);
  }

  VirtualClock clock_{parseTime("2026-01-01T00:00:00Z").value()};
  Mailbox owner_;
  Registry metrics_;
  std::unique_ptr<apiserver::EmbeddedServer> server_;
  std::unique_ptr<apiserver::InProcessClient> client_;
  std::unique_ptr<workloads::Workloads> workloads_;
};

}  // namespace

std::unique_ptr<Driver> makeWorkloadsDriver() {
  return std::make_unique<WorkloadsDriver>();
}

}  // namespace mangrove::scripts
