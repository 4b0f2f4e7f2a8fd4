#include "agent/qos/evict/sender.h"

#include <fmt/format.h>

#include "api/object/event.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("evict");

std::string messageOf(const Ousting& ousting) {
  const api::ObjectMeta& meta = ousting.pod->meta;
  return fmt::format("evict Pod:{}/{}, reason: evicted, message: {}, kill pod: {}", meta.ns.view(),
                     meta.name.view(), ousting.why, meta.name.view());
}

EvictionAnswer answerOf(const Result<client::Reply>& reply) {
  if (reply) return EvictionAnswer::kEvicted;
  switch (reply.error().code()) {
    case Code::kNotFound:  // gone already, or another pod of that name
    case Code::kConflict:
      return EvictionAnswer::kEvicted;
    case Code::kTooMany:
    case Code::kDenied:
    case Code::kInvalid:
      return EvictionAnswer::kRefused;
    default:
      return EvictionAnswer::kNobody;
  }
}

}  // namespace

EvictionSender::EvictionSender(EvictionSetup setup, EvictionOptions options)
    : setup_(setup), options_(options) {}

EvictionSender::~EvictionSender() {
  life_.end();
}

bool EvictionSender::evict(const Ousting& ousting) {
  const MonoTime now = setup_.clock.mono();
  while (!sent_.empty() && now - sent_.front() > std::chrono::minutes(1)) sent_.pop_front();
  if (sent_.size() >= options_.perMinute) {
    ++stats_.overBudget;
    record(ousting, "the node's evictions of this minute are spent");
    return false;
  }
  if (setup_.mayGo && !setup_.mayGo(ousting)) return false;
  sent_.push_back(now);
  ++stats_.sent;
  client::DeleteOptions options;
  if (ousting.grace) options.gracePeriodSeconds = *ousting.grace;
  setup_.client.submit(setup_.owner, client::evictRequest(ousting.pod->meta, options),
                       life_.guard([this, ousting](const Result<client::Reply>& reply) {
                         finished(ousting, reply);
                       }));
  return true;
}

void EvictionSender::finished(const Ousting& ousting, const Result<client::Reply>& reply) {
  const api::ObjectRef about = api::refTo(client::kind::kPod, ousting.pod->meta);
  const std::string message = messageOf(ousting);
  ++(reply ? stats_.evicted : stats_.refused);
  if (setup_.answered) setup_.answered(ousting, answerOf(reply));
  setup_.events.warning(about, reply ? "evictPodSuccess" : "evictPodFail",
                        reply ? message : message + ": " + reply.error().text());
  record(ousting, reply ? "evicted" : reply.error().text());
  if (!reply) return log.warn("{}: {}", message, reply.error().text());
  log.info("{}", message);
  setup_.metrics
      .counters("mangrove_agent_pod_evictions_total", "Pods sent away by this agent.", {"feature"})
      .with({std::string(ousting.feature)})
      .inc();
}

void EvictionSender::record(const Ousting& ousting, std::string outcome) {
  setup_.audit.add(
      {.at = setup_.clock.wall(),
       .owner = std::string(ousting.feature),
       .why = ousting.why,
       .cgroup = fmt::format("{}/{}", ousting.pod->meta.ns.view(), ousting.pod->meta.name.view()),
       .file = "eviction",
       .from = "",
       .to = std::to_string(ousting.expected),
       .outcome = std::move(outcome)});
}

}  // namespace mangrove::agent
