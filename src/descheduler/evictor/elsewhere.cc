#include "descheduler/evictor/elsewhere.h"

namespace mangrove::descheduler {

void Elsewhere::begin(const Look& look) {
  look_ = &look;
  fit_ = std::make_unique<NodeFit>(look);
}

void Elsewhere::end() {
  look_ = nullptr;
  fit_.reset();
}

std::optional<std::string> Elsewhere::refusal(const api::Pod& pod, const MaybeSelector& nodes) {
  if (look_ == nullptr) return std::nullopt;
  Nodes others = matching(nodes, look_->nodes());
  std::erase_if(others, [&](const api::Node* node) {
    return node->meta.name.view() == pod.nodeName.view() || !takesPart(*node);
  });
  if (fit_->fitsAny(pod, others)) return std::nullopt;
  return "it fits on no other node";
}

}  // namespace mangrove::descheduler
