#include "workloads/autoscaler/autoscaler.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "api/wire/write.h"
#include "workloads/autoscaler/replicas.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

constexpr auto kEvery = std::chrono::seconds(15);

// One look at one autoscaler: what it will say of itself, and of its target.
class Look {
 public:
  Look(const Autoscaler& scaler, const ScaleView& target, const UsageOf& usageOf, History& history,
       WallTime now)
      : scaler_(scaler),
        target_(target),
        usageOf_(usageOf),
        history_(history),
        now_(now),
        conditions_(scaler.conditions),
        desired_(target.wanted),
        scaledAt_(scaler.lastScaleTime) {}

  Plan run(std::string raw) {
    plan_.again = kEvery;
    if (target_.trouble.empty())
      decide();
    else
      cannotScale();
    if (desired_ != target_.wanted) scale();
    writeStatus(std::move(raw));
    return std::move(plan_);
  }

 private:
  void say(const char* type, bool is, const char* reason, std::string message) {
    setCondition(conditions_, {type, is ? "True" : "False", reason, std::move(message), {}, {}},
                 now_);
  }
  void cannotScale() {
    say("AbleToScale", false, "FailedGetScale", target_.trouble);
    plan_.notes.push_back({true, "FailedGetScale", target_.trouble});
  }

  void decide() {
    say("AbleToScale", true, "SucceededGetScale",
        "the HPA controller was able to get the target's current scale");
    if (target_.wanted == 0 && scaler_.least != 0) {
      return say("ScalingActive", false, "ScalingDisabled",
                 "scaling is disabled since the replica count of the target is zero");
    }
    if (target_.wanted > scaler_.most)
      return edge(scaler_.most, "Current number of replicas above Spec.MaxReplicas");
    if (target_.wanted < scaler_.least)
      return edge(scaler_.least, "Current number of replicas below Spec.MinReplicas");
    byMetrics();
  }
  void edge(int32_t replicas, const char* why) {
    desired_ = replicas;
    because_ = why;
  }

  void byMetrics() {
    std::optional<int32_t> most;
    std::string trouble;
    for (const MetricWish& wish : scaler_.metrics) {
      const Proposal one = ask(wish);
      if (!one.trouble.empty()) {
        trouble = fmt::format("{}: {}", nameOf(wish), one.trouble);
        continue;
      }
      if (!most || one.replicas > *most) {
        most = one.replicas;
        because_ = fmt::format("{} {} target", nameOf(wish),
                               one.replicas < target_.wanted ? "below" : "above");
      }
      show(wish, one);
    }
    if (!trouble.empty()) complain(trouble);
    // What cannot be answered might have asked for more.
    if (!most || (!trouble.empty() && *most < target_.wanted)) return;
    if (trouble.empty()) {
      say("ScalingActive", true, "ValidMetricFound",
          "the HPA was able to successfully calculate a replica count");
    }
    follow(*most);
  }
  void complain(const std::string& trouble) {
    say("ScalingActive", false, "FailedGetResourceMetric", trouble);
    plan_.notes.push_back({true, "FailedGetResourceMetric", trouble});
  }

  void follow(int32_t proposed) {
    const Bounded bound = bounded(scaler_, target_.wanted, proposed, history_, now_);
    desired_ = bound.replicas;
    sayHeld(bound.heldBy);
    if (bound.limited.empty()) {
      say("ScalingLimited", false, "DesiredWithinRange",
          "the desired count is within the acceptable range");
    } else {
      say("ScalingLimited", true, bound.limited.c_str(), bound.message);
    }
  }

  void sayHeld(int32_t by) {
    if (by > 0) {
      return say("AbleToScale", true, "ScaleDownStabilized",
                 "recent recommendations were higher than current one, applying the highest recent "
                 "recommendation");
    }
    if (by < 0) {
      return say("AbleToScale", true, "ScaleUpStabilized",
                 "recent recommendations were lower than current one, applying the lowest recent "
                 "recommendation");
    }
    say("AbleToScale", true, "ReadyForNewScale", "recommended size matches current size");
  }

  static std::string nameOf(const MetricWish& wish) {
    if (wish.container.empty()) return fmt::format("{} resource", wish.resource);
    return fmt::format("{} resource of container {}", wish.resource, wish.container);
  }

  Proposal ask(const MetricWish& wish) const {
    if (wish.type != "Resource" && wish.type != "ContainerResource")
      return {0, 0, 0,
              fmt::format("metrics of type {} need an adapter, and there is none", wish.type)};
    Question question;
    question.current = target_.wanted;
    question.utilization = wish.utilization;
    question.average = wish.average ? wish.average->milliValue() : 0;
    if (scaler_.up.tolerance)
      question.toleranceUp = static_cast<double>(scaler_.up.tolerance->milliValue()) / 1000;
    if (scaler_.down.tolerance)
      question.toleranceDown = static_cast<double>(scaler_.down.tolerance->milliValue()) / 1000;
    if (!wish.utilization && question.average <= 0) return {0, 0, 0, "its target is not above 0"};
    return replicasFor(question, readings(wish));
  }

  std::vector<PodReading> readings(const MetricWish& wish) const {
    std::vector<PodReading> out;
    for (const auto& pod : target_.pods) {
      const auto measured = usageOf_(*pod);
      const std::optional<int64_t> used = measured ? usedBy(wish, *measured) : std::nullopt;
      PodReading one;
      one.state =
          stateOf(*pod, wish.resource == "cpu", used ? std::optional(measured->at) : std::nullopt,
                  measured ? measured->window : Duration::zero(), now_);
      one.used = used;
      one.asked = askedBy(wish, *pod);
      out.push_back(one);
    }
    return out;
  }
  static std::optional<int64_t> usedBy(const MetricWish& wish, const Measured& measured) {
    const api::ResourceList* usage = &measured.usage;
    if (wish.type == "ContainerResource") {
      const auto found = measured.containers.find(wish.container);
      if (found == measured.containers.end()) return std::nullopt;
      usage = &found->second;
    }
    const Quantity* amount = usage->find(wish.resource);
    return amount ? std::optional(amount->milliValue()) : std::nullopt;
  }
  static int64_t askedBy(const MetricWish& wish, const api::Pod& pod) {
    if (wish.type == "Resource") return api::podRequests(pod).amount(wish.resource).milliValue();
    for (const auto& container : pod.spec->containers) {
      if (container.name.view() == wish.container) {
        return container.requests.amount(wish.resource).milliValue();
      }
    }
    return 0;
  }

  void show(const MetricWish& wish, const Proposal& one) {
    json::Object current{{"averageValue", Quantity::ofMilli(one.average).text()}};
    if (wish.utilization) current["averageUtilization"] = one.utilization;
    json::Object source{{"name", wish.resource}, {"current", std::move(current)}};
    if (!wish.container.empty()) source["container"] = wish.container;
    const char* member = wish.container.empty() ? "resource" : "containerResource";
    metrics_.push_back(json::Object{{"type", wish.type}, {member, std::move(source)}});
  }

  void scale() {
    plan_.change.push_back({target_.ref,
                            client::PatchType::kMerge,
                            {{"spec", json::Object{{"replicas", desired_}}}},
                            ""});
    plan_.notes.push_back(
        {false, "SuccessfulRescale", fmt::format("New size: {}; reason: {}", desired_, because_)});
    history_.changes.push_back({now_, desired_ - target_.wanted});
    scaledAt_ = now_;
    say("AbleToScale", true, "SucceededRescale",
        fmt::format("the HPA controller was able to update the target scale to {}", desired_));
  }

  void writeStatus(std::string raw) {
    for (auto& condition : conditions_) condition.lastUpdateTime = kZeroTime;  // not in this kind
    json::Object status{{"observedGeneration", scaler_.meta.generation},
                        {"currentReplicas", target_.present},
                        {"desiredReplicas", desired_},
                        {"conditions", conditionsJson(conditions_)}};
    status["currentMetrics"] = metrics_.empty() ? json::Value() : json::Value(std::move(metrics_));
    if (scaledAt_ != kZeroTime) status["lastScaleTime"] = api::toJson(scaledAt_);
    plan_.change.push_back(
        {{kAutoscaler, std::string(scaler_.meta.ns.view()), scaler_.meta.name.str(), "status"},
         client::PatchType::kMerge,
         {{"status", std::move(status)}},
         std::move(raw)});
  }

  const Autoscaler& scaler_;
  const ScaleView& target_;
  const UsageOf& usageOf_;
  History& history_;
  WallTime now_;
  Plan plan_;
  std::vector<WorkloadCondition> conditions_;
  json::Array metrics_;
  int32_t desired_;
  std::string because_;
  WallTime scaledAt_;
};

}  // namespace

Plan planAutoscaler(const Autoscaler& scaler, const ScaleView& target, const UsageOf& usageOf,
                    History& history, std::string raw, WallTime now) {
  if (scaler.meta.isDeleting()) return {};
  return Look(scaler, target, usageOf, history, now).run(std::move(raw));
}

}  // namespace mangrove::workloads
