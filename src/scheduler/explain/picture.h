#pragma once
// An engine that believes what a server has now and does nothing, for explanations.
//
//   NoEffects effects;  Registry registry;
//   Engine engine(clock, effects, registry);
//   engine.configure(config);  fillFrom(client, engine, {});
//
// Blocking; any thread but I/O threads.

#include <string_view>

#include "base/result.h"
#include "client/api_client.h"
#include "placement/engine/engine.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

// Writes nothing, whatever is decided.
class NoEffects final : public Effects {
 public:
  void bind(const PodInfo&, std::string_view, const BindNotes&, Done) override {}
  void scheduled(const api::Pod&, std::string_view, std::string_view) override {}
  void failed(const api::Pod&, const PodFailure&, std::string_view) override {}
  void preempt(const api::Pod&, const api::Pod&, std::string_view, Done) override {}
  void clearNomination(const api::Pod&) override {}
};

// Everything but one pod.
Result<> fillFrom(client::ApiClient& client, Engine& engine, const api::Uid& without);

}  // namespace mangrove::scheduler
