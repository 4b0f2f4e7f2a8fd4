#pragma once
// An engine with everything the server has now, that writes nothing: for whoever only wants to
// know.
//
//   auto filled = FilledEngine::make(client, config, clock);
//   Cycle cycle(profile, (*filled)->engine().cluster(), …);
//
// Blocking while it is made; then for one thread.

#include <memory>
#include <unordered_map>

#include "client/api_client.h"
#include "placement/engine/engine.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

class FilledEngine {
 public:
  // All but the pod in question; the plugins hear of it nevertheless.
  static Result<std::unique_ptr<FilledEngine>> make(client::ApiClient& client,
                                                    const SchedulerConfig& config, Clock& clock,
                                                    const api::Uid& without = {});
  ~FilledEngine();
  Engine& engine();
  // Without a node and not finished; null: no such pod.
  PodPtr pending(const api::Uid& uid);
  const std::unordered_map<api::Uid, std::shared_ptr<const api::Pod>>& pods() const;

 private:
  struct Impl;
  explicit FilledEngine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::scheduler
