#pragma once
// A server that says yes to every binding, for benchmarks of decisions alone. One thread.

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/engine/engine.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

// Says yes to every binding, later, and forgets everything else.
class YesEffects final : public Effects {
 public:
  void bind(const PodInfo&, std::string_view, const BindNotes&, Done done) override {
    pending_.push_back(std::move(done));
    bound++;
  }
  void scheduled(const api::Pod&, std::string_view, std::string_view) override {}
  void failed(const api::Pod&, const PodFailure&, std::string_view) override { failures++; }
  void preempt(const api::Pod& victim, const api::Pod&, std::string_view, std::string_view,
               Done done) override {
    victims.push_back(std::make_shared<api::Pod>(victim));
    pending_.push_back(std::move(done));
  }
  void clearNomination(const api::Pod&) override {}

  void answer() {
    for (auto& done : std::exchange(pending_, {})) done({});
  }
  size_t bound = 0, failures = 0;
  std::vector<std::shared_ptr<const api::Pod>> victims;

 private:
  std::vector<Done> pending_;
};

}  // namespace mangrove::scheduler
