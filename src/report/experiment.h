#pragma once
// `mangrove report`: the experiment on a running system. Either nodes are switched on and off in
// random order, or two sets of replicas are watched side by side.
//
//   Experiment experiment(api, loop, interrupt, options);
//   Result<std::vector<Window>> windows = experiment.run();
//
// Blocks; one owner. Whatever ends it, switched nodes are left as they were found.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "client/api_client.h"
#include "frame/interrupt.h"
#include "net/loop.h"
#include "report/source.h"
#include "report/windows.h"

namespace mangrove::report {

struct ExperimentOptions {
  std::vector<std::string> nodes;
  // A node label and its two values; "" as a value takes the label away.
  std::string label = "node.mangrove.io/enforcement";
  std::string on = "", off = "off";
  std::string command;  // instead of the label: run by sh with NODE and STATE (on, off)
  // Replicas instead of nodes: what is watched for either set.
  std::string colocated, reserved;
  int64_t pairs = 20;
  Duration window = std::chrono::seconds(60);
  Duration settle = std::chrono::seconds(10);  // after a switch, before the window
  int64_t seed = 1;
  SourceOptions source;  // {node} in its addresses stands for the node's address
};

class Experiment {
 public:
  // `api` may be null when neither labels nor batch figures are wanted.
  Experiment(client::ApiClient* api, net::Loop& loop, frame::Interrupt& interrupt,
             const ExperimentOptions& options)
      : api_(api), loop_(loop), interrupt_(interrupt), options_(options) {}
  ~Experiment();

  // Told of every window as it ends.
  void onWindow(std::function<void(const Window&)> told) { told_ = std::move(told); }
  // kCancelled when interrupted; `windows()` has what there was until then.
  Result<> run();
  const std::vector<Window>& windows() const { return windows_; }

 private:
  Result<> runSwitched();
  Result<> runReplicas();
  Result<> prepareNodes();
  Result<> halfPair(size_t pair, const std::vector<bool>& on);
  Result<> switchNode(const std::string& node, Arm arm);
  Result<> setLabel(const std::string& node, const std::optional<std::string>& value);
  std::optional<double> batchCores(const std::string& node);
  Result<std::unique_ptr<LatencySource>> sourceFor(const std::string& node);
  void note(Window window);

  client::ApiClient* api_;
  net::Loop& loop_;
  frame::Interrupt& interrupt_;
  const ExperimentOptions& options_;
  std::function<void(const Window&)> told_;
  std::vector<Window> windows_;
  std::vector<std::unique_ptr<LatencySource>> sources_;
  std::map<std::string, std::optional<std::string>> labelsBefore_;  // of nodes that were switched
};

}  // namespace mangrove::report
