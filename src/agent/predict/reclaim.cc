#include "agent/predict/reclaim.h"

#include <algorithm>

#include "api/annotations/node.h"
#include "api/pod/classes.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

Amounts requestOf(const api::Pod& pod) {
  const api::ResourceList list = api::podRequests(pod);
  return {list.cpu(), list.memory()};
}

bool isEnding(const api::Pod& pod) {
  return pod.meta.isDeleting() || api::isTerminated(pod);
}

bool isProd(const api::Pod& pod) {
  const api::PriorityBand band = api::bandWithDefault(pod);
  return band == api::PriorityBand::kProd || band == api::PriorityBand::kNone;
}

class Calculation {
 public:
  explicit Calculation(const ReclaimInputs& in)
      : in_(in), ratio_(static_cast<double>(100 + in.marginPercent) / 100) {}

  Reclaim run() {
    Reclaim out;
    for (const ReclaimPod& pod : in_.pods) out.refused.push_back(!add(pod));
    out.byPods = {lesserOf(less(in_.allocatable, unreclaimable_), reclaimable_),
                  unreclaimable_ + unpredicted_};
    out.byPriority = byPriority();
    if (!out.byPriority) {
      out.reclaimable = out.peak = pass(out.byPriority.error());
      return out;
    }
    out.reclaimable = lesserOf(out.byPods.reclaimable, out.byPriority->reclaimable);
    out.peak = greaterOf(out.byPods.peak, out.byPriority->peak);
    return out;
  }

 private:
  Amounts withMargin(const Amounts& peak) const {
    return {MilliCpu{static_cast<int64_t>(static_cast<double>(peak.cpu.v) * ratio_)},
            Bytes{static_cast<int64_t>(static_cast<double>(peak.memory.v) * ratio_)}};
  }

  // False: refused. The pod then counts for neither opinion's requests.
  bool add(const ReclaimPod& one) {
    if (!isProd(*one.pod)) return true;
    if (!addToPods(one)) return false;
    if (!isEnding(*one.pod)) prodRequests_ = prodRequests_ + requestOf(*one.pod);
    return true;
  }

  bool addToPods(const ReclaimPod& one) {
    const Amounts request = requestOf(*one.pod);
    if (one.age <= in_.coldStart) {
      unpredicted_ = unpredicted_ + request;
      return true;
    }
    if (isEnding(*one.pod)) return true;
    if (!one.model) {
      unpredicted_ = unpredicted_ + request;
      return false;
    }
    const Amounts peak = withMargin({one.model->cpu, one.model->memory});
    unreclaimable_ = unreclaimable_ + peak;
    reclaimable_ = reclaimable_ + less(request, peak);
    return true;
  }

  Result<Opinion> byPriority() const {
    Amounts sum;
    for (const auto& [model, what] :
         {std::pair{&in_.system, "the system"}, std::pair{&in_.prod, "prod pods"},
          std::pair{&in_.none, "pods without a class"}}) {
      if (!*model) return fail(Code::kUnavailable, "not enough was learnt about {} yet", what);
      sum = sum + Amounts{(*model)->cpu, (*model)->memory};
    }
    const Amounts unreclaimable = withMargin(sum);
    return Opinion{
        lesserOf(less(in_.allocatable, unreclaimable), less(prodRequests_, unreclaimable)),
        unreclaimable};
  }

  const ReclaimInputs& in_;
  double ratio_;
  Amounts unpredicted_, unreclaimable_, reclaimable_, prodRequests_;
};

}  // namespace

Amounts operator+(const Amounts& a, const Amounts& b) {
  return {a.cpu + b.cpu, a.memory + b.memory};
}
Amounts lesserOf(const Amounts& a, const Amounts& b) {
  return {std::min(a.cpu, b.cpu), std::min(a.memory, b.memory)};
}
Amounts greaterOf(const Amounts& a, const Amounts& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}
Amounts less(const Amounts& a, const Amounts& b) {
  return greaterOf({a.cpu - b.cpu, a.memory - b.memory}, {});
}

std::optional<Peak> withSeason(const std::optional<Peak>& model,
                               const std::optional<Peak>& season) {
  if (!model || !season) return model;
  return Peak{std::max(model->cpu, season->cpu), std::max(model->memory, season->memory)};
}

Reclaim prodReclaimable(const ReclaimInputs& inputs) {
  return Calculation(inputs).run();
}

Amounts rawAllocatable(const api::Node& node) {
  Amounts amounts{node.status.allocatable.cpu(), node.status.allocatable.memory()};
  const auto raw = api::parseRawAllocatable(node.meta.annotations);
  if (!raw || !*raw) return amounts;
  if ((*raw)->has(api::resource::kCpu)) amounts.cpu = (*raw)->cpu();
  if ((*raw)->has(api::resource::kMemory)) amounts.memory = (*raw)->memory();
  return amounts;
}

}  // namespace mangrove::agent
