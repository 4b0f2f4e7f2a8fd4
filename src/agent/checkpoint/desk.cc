#include "agent/checkpoint/desk.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "agent/executor/send_signal.h"
#include "agent/qos/evict/task.h"
#include "base/number/elapsed.h"
#include "base/os/log.h"
#include "net/client/http_client.h"

namespace mangrove::agent {
namespace {

const Logger log("checkpoint");

using Mode = api::Checkpoint::Mode;
using Step = api::CheckpointStep::Step;

constexpr std::string_view kAsker = "mangrove-agent";
constexpr Duration kPatience = std::chrono::seconds(10);  // for the patch, and for a pod's answer

std::string keyOf(const api::Pod& pod) {
  return api::keyOf(pod.meta).text();
}

// The container's cgroup where the machine shows it.
std::string cgroupOf(const PodLook& look, const std::string& container) {
  for (const ContainerLook& one : look.containers)
    if (container.empty() || one.name == container) return std::string(one.cgroup);
  return "";
}

std::string troubleOf(const PodLook& look, const api::Checkpoint& contract,
                      const std::string& cgroup) {
  const api::Pod& pod = *look.pod;
  if (contract.mode == Mode::kSignal && cgroup.empty())
    return fmt::format("container '{}' does not run", contract.container);
  if (contract.mode != Mode::kHttp) return "";
  if (pod.spec->hostNetwork) return "pods on the host's network are not asked by HTTP";
  return pod.status.podIp.view().empty() ? "the pod has no address" : "";
}

}  // namespace

bool isEmergency(const Ousting& ousting) {
  return ousting.feature == feature::kBeMemory || ousting.feature == feature::kMemory ||
         (ousting.feature == "WatermarkEvict" && ousting.why.starts_with("memory"));
}

std::vector<Errand> errandsOf(std::span<const PodLook> pods, WallTime now) {
  std::vector<Errand> out;
  for (const PodLook& look : pods) {
    if (!look.pod || !look.pod->meta.annotations.has(api::annotation::kCheckpointRequest)) continue;
    const api::SaidCheckpoint said = api::saidCheckpoint(look.pod->meta.annotations);
    if (api::stepOf(said, now).step != Step::kWait || now < said.request->notBefore) continue;
    if (said.contract->mode != Mode::kSignal && said.contract->mode != Mode::kHttp) continue;
    Errand one{look.pod, *said.contract, said.request->at, cgroupOf(look, said.contract->container),
               ""};
    one.trouble = troubleOf(look, one.contract, one.cgroup);
    out.push_back(std::move(one));
  }
  return out;
}

CheckpointDesk::CheckpointDesk(CheckpointSetup setup) : setup_(setup) {}

CheckpointDesk::~CheckpointDesk() {
  life_.end();
}

void CheckpointDesk::count(std::string_view result) {
  setup_.metrics
      .counters("mangrove_agent_checkpoints_total",
                "Pods that were to be evicted or asked to save, by what became of it.", {"result"})
      .with({std::string(result)})
      .inc();
}

bool CheckpointDesk::mayGo(const Ousting& ousting) {
  const api::SaidCheckpoint said = api::saidCheckpoint(ousting.pod->meta.annotations);
  const api::CheckpointStep step = api::stepOf(said, setup_.clock.wall());
  if (step.step == Step::kNothingToSave) return true;
  if (isEmergency(ousting)) {
    count("emergency");
    return true;
  }
  if (step.step == Step::kAsk) ask(ousting, said);
  if (step.step == Step::kSaved) count("saved");
  if (step.step == Step::kTooLate) count("late");
  return step.step == Step::kSaved || step.step == Step::kTooLate;
}

// The strategy asks again at the next tick; the patch is sent once.
void CheckpointDesk::ask(const Ousting& ousting, const api::SaidCheckpoint& said) {
  const std::string uid = ousting.pod->meta.uid.str();
  const MonoTime now = setup_.clock.mono();
  std::erase_if(asking_, [&](const auto& one) { return now - one.second > kPatience; });
  if (!asking_.emplace(uid, now).second) return;
  const auto request =
      api::requestFor(said, std::string(kAsker), std::string(ousting.feature), setup_.clock.wall());
  setup_.client.submit(
      setup_.owner,
      client::patchRequest(
          {client::kind::kPod, ousting.pod->meta.ns.str(), ousting.pod->meta.name.str()},
          client::PatchType::kMerge, api::requestPatch(request)),
      life_.guard([this, uid, pod = ousting.pod, request](const Result<client::Reply>& reply) {
        count(reply ? "asked" : "unasked");
        if (!reply) {
          asking_.erase(uid);
          return log.warn("asking {} to save: {}", keyOf(*pod), reply.error().text());
        }
        setup_.events.normal(api::refTo(client::kind::kPod, pod->meta), "CheckpointRequested",
                             fmt::format("save before {}: {} wants the pod gone",
                                         formatTime(request.deadline), request.reason));
      }));
}

void CheckpointDesk::carry(const Look& look) {
  std::erase_if(carried_, [&](const auto& one) {
    return elapsed(one.second, look.wall) > api::kForgetRequest + api::kLongestCheckpoint;
  });
  for (const Errand& errand : errandsOf(look.pods, look.wall)) {
    WallTime& before = carried_[errand.pod->meta.uid.str()];
    if (before == errand.at) continue;  // once for each request
    before = errand.at;
    carryOne(errand);
  }
}

void CheckpointDesk::carryOne(const Errand& errand) {
  if (!errand.trouble.empty()) return done(errand, invalid("{}", errand.trouble));
  if (errand.contract.mode == Mode::kHttp) return post(errand);
  const auto sent =
      signalMain(setup_.machine, errand.cgroup, api::signalNumber(errand.contract.signal));
  done(errand, sent ? Result<>() : pass(sent.error()));
}

// To the pod's own address and nobody else's; redirects are not followed.
void CheckpointDesk::post(const Errand& errand) {
  if (setup_.io == nullptr) return done(errand, invalid("this agent has no HTTP client"));
  net::ClientOptions options;
  options.base.scheme = net::Url::Scheme::kHttp;
  options.base.host = errand.pod->status.podIp.str();
  options.base.port = static_cast<uint16_t>(errand.contract.port);
  options.connectTimeout = kPatience;
  options.maxBody = kMiB;
  auto client = net::HttpClient::create(*setup_.io, options);
  if (!client) return done(errand, pass(client.error()));
  std::shared_ptr<net::HttpClient> shared = std::move(*client);
  net::HttpRequest request;
  request.method = "POST";
  request.target = errand.contract.url;
  net::SendOptions send;
  send.timeout = kPatience;
  send.replay = net::Replay::kNever;
  shared->send(std::move(request), send,
               [shared, &owner = setup_.owner,
                guard = life_.guard([this, errand](const Result<int>& status) {
                  if (!status) return done(errand, pass(status.error()));
                  const bool good = *status >= 200 && *status < 300;
                  done(errand, good ? Result<>() : invalid("the pod answered {}", *status));
                })](Result<net::HttpResponse> answer) mutable {
                 Result<int> status = answer ? Result<int>(answer->status) : pass(answer.error());
                 // The client may not end on its own thread.
                 owner.post([keep = std::move(shared), guard = std::move(guard),
                             status = std::move(status)]() mutable { guard(status); });
               });
}

void CheckpointDesk::done(const Errand& errand, const Result<>& outcome) {
  count(outcome ? "carried" : "failed");
  const std::string how = errand.contract.mode == Mode::kHttp
                              ? fmt::format("POST :{}{}", errand.contract.port, errand.contract.url)
                              : errand.contract.signal;
  setup_.audit.add({.at = setup_.clock.wall(),
                    .owner = std::string(kCheckpointGate),
                    .why = "asked to save before it is evicted",
                    .cgroup = keyOf(*errand.pod),
                    .file = "checkpoint",
                    .from = "",
                    .to = how,
                    .outcome = outcome ? "sent" : outcome.error().text()});
  if (outcome) return log.info("{} was told to save: {}", keyOf(*errand.pod), how);
  setup_.events.warning(api::refTo(client::kind::kPod, errand.pod->meta), "CheckpointFailed",
                        fmt::format("{}: {}", how, outcome.error().text()));
}

}  // namespace mangrove::agent
