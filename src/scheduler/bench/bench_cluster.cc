#include "scheduler/bench/bench_cluster.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text/time_text.h"

namespace mangrove::scheduler {

void Burst::send(client::Request request) {
  constexpr int kMost = 200;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return open_ < kMost; });
    open_++;
  }
  client_.submit(std::move(request), [this](Result<client::Reply> reply) {
    std::lock_guard guard(mutex_);
    if (!reply && reply.error().code() != mangrove::Code::kExists && !trouble_)
      trouble_ = reply.error();
    open_--;
    room_.notify_all();
  });
}

Result<> Burst::finish() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return open_ == 0; });
  if (trouble_) return pass(*trouble_);
  return {};
}

client::Request creation(const api::Kind& kind, std::string_view ns, std::string body) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {kind, std::string(ns), ""};
  request.body = std::move(body);
  request.timeout = std::chrono::minutes(2);
  return request;
}

size_t BenchCluster::firstPods() const {
  return firstOf(bench_, options_);
}
size_t BenchCluster::measuredPods() const {
  return measuredOf(bench_, options_);
}

// Load estimates of victims stay until their nodes report: with thresholds nobody could move in.
bool BenchCluster::reportsLoad() const {
  return options_.withMetrics && bench_.measured != BenchPod::kHighPriority;
}

Result<> BenchCluster::createNodes() {
  const std::string now = formatTime(realClock().wall());
  Burst burst(client_);
  for (int priority : prioritiesOf(bench_))
    burst.send(creation(api::kind::kPriorityClass, "", priorityClassJson(priority)));
  for (size_t i = 0; i < quotas(); i++)
    burst.send(creation(api::kind::kElasticQuota, "default", quotaJson(i, leaves())));
  for (size_t i = 0; i < nodes(); i++) {
    burst.send(creation(api::kind::kNode, "", nodeJson(bench_, i)));
    if (hasDevices(bench_)) burst.send(creation(api::kind::kDevice, "", deviceJson(i)));
    if (reportsLoad()) burst.send(creation(api::kind::kNodeMetric, "", metricJson(i, now)));
  }
  if (auto ok = burst.finish(); !ok) return ok;
  // Servers keep what a kubelet says apart from what is created, and taint what is new.
  Burst status(client_);
  for (size_t i = 0; i < nodes(); i++) {
    const std::string name = fmt::format("node-{}", i);
    status.send(client::patchRequest({api::kind::kNode, "", name, "status"},
                                     client::PatchType::kMerge, nodeJson(bench_, i)));
    if (options_.untaint)
      status.send(client::patchRequest({api::kind::kNode, "", name}, client::PatchType::kMerge,
                                       R"({"spec":{"taints":null}})"));
    if (reportsLoad())
      status.send(client::patchRequest({api::kind::kNodeMetric, "", name, "status"},
                                       client::PatchType::kMerge, metricJson(i, now)));
  }
  if (auto ok = status.finish(); !ok) return ok;
  return createReservations();
}

Result<> BenchCluster::createReservations() {
  const size_t count = reservationsOf(bench_, nodes());
  Burst made(client_);
  for (size_t i = 0; i < count; i++)
    made.send(creation(api::kind::kReservation, "", reservationJson(bench_, i)));
  if (auto ok = made.finish(); !ok) return ok;
  Burst placed(client_);
  for (size_t i = 0; i < count; i++)
    placed.send(client::patchRequest(
        {api::kind::kReservation, "", fmt::format("reservation-{}", i), "status"},
        client::PatchType::kMerge, reservationJson(bench_, i)));
  return placed.finish();
}

Result<> BenchCluster::createPods(BenchPod kind, std::string_view name, size_t count) {
  Burst burst(client_);
  size_t& next = numbers_[std::string(name)];
  for (size_t i = next; i < next + count; i++) {
    burst.send(
        creation(api::kind::kPod, "default",
                 podJson(kind, name, i, nodes(), options_.schedulerName, "default", leaves())));
    pods_.push_back(fmt::format("{}-{}", name, i));
  }
  next += count;
  return burst.finish();
}

void BenchCluster::remove() {
  Burst burst(client_);
  client::DeleteOptions now;
  now.gracePeriodSeconds = 0;
  const auto erase = [&](const api::Kind& kind, std::string ns, std::string name) {
    burst.send(client::deleteRequest({kind, std::move(ns), std::move(name)}, now));
  };
  for (const auto& pod : pods_) erase(api::kind::kPod, "default", pod);
  for (size_t i = 0; i < quotas(); i++)
    erase(api::kind::kElasticQuota, "default", quotaObjectName(i, leaves()));
  for (size_t i = 0; i < reservationsOf(bench_, nodes()); i++)
    erase(api::kind::kReservation, "", fmt::format("reservation-{}", i));
  for (size_t i = 0; i < nodes(); i++) {
    erase(api::kind::kNode, "", fmt::format("node-{}", i));
    if (hasDevices(bench_)) erase(api::kind::kDevice, "", fmt::format("node-{}", i));
    if (reportsLoad()) erase(api::kind::kNodeMetric, "", fmt::format("node-{}", i));
  }
}

}  // namespace mangrove::scheduler
