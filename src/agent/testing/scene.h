#pragma once
// A whole observing agent over a machine made of files, with a clock that stands still and an API
// that answers from a table: everything in one thread, so a test is a list of steps.
//
//   Scene scene(fakeRoot.path());
//   scene.api.put("Pod", podJson);
//   scene.start();
//   fakeRoot.write("proc/stat", …);  scene.seconds(1);
//   scene.patches.back()                            // the last NodeMetric status sent
//
// For tests; the machine outlives the scene.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "client/testing/scripted_client.h"
#include "json/value.h"

namespace mangrove::agent::testing {

class Scene {
 public:
  explicit Scene(const std::filesystem::path& root, AgentOptions options = {});
  ~Scene();

  // An object the API has from the beginning, as JSON with kind and metadata.
  void put(const std::string& kind, const std::string& json);
  // A change while the agent runs.
  void event(const std::string& kind, const std::string& type, const std::string& json);
  void start();
  // Advances so many ticks of the agent's period. `before` runs ahead of each, with its number.
  void ticks(int count, const std::function<void(int)>& before = {});
  void seconds(int count) { ticks(count); }
  // Ends the process without a word, as kill -9 does, and starts another one.
  void killAndRestart();

  Agent& agent() { return *agent_; }
  const Look& look() { return agent_->look(); }

  VirtualClock clock{WallTime(std::chrono::seconds(1'750'000'000))};
  Mailbox owner;
  client::testing::ScriptedClient api;
  Registry internal, external;
  std::vector<json::Value> patches;  // bodies of NodeMetric status patches, in order
  std::vector<std::pair<std::string, json::Value>> writes;  // all others: "create nodes…", body
  bool apiAway = false;                                     // every request fails

 private:
  void make();
  void serve();
  void answer();

  AgentOptions options_;
  std::map<std::string, std::vector<std::string>> objects_;  // by plural
  std::unique_ptr<Agent> agent_;
};

// Small objects for tests.
std::string podJson(const std::string& name, const std::string& uid, const std::string& extra = "");
std::string nodeJson(const std::string& name, const std::string& cpu, const std::string& memory);
std::string nodeMetricJson(const std::string& name, const std::string& policy = "{}");

}  // namespace mangrove::agent::testing
