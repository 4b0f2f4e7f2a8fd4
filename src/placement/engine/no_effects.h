#pragma once
// Effects of nobody: for engines that are asked and never act (explanations, what-if, proofs of
// moves).

#include "placement/engine/effects.h"

namespace mangrove::placement {

class NoEffects final : public Effects {
 public:
  void bind(const PodInfo&, std::string_view, const BindNotes&, Done) override {}
  void scheduled(const api::Pod&, std::string_view, std::string_view) override {}
  void failed(const api::Pod&, const PodFailure&, std::string_view) override {}
  void preempt(const api::Pod&, const api::Pod&, std::string_view, std::string_view,
               Done) override {}
  void clearNomination(const api::Pod&) override {}
};

}  // namespace mangrove::placement
