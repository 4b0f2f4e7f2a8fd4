#pragma once
// FragmentationAware: of a node whose resources are requested unevenly (all CPU gone, memory idle)
// the pod leaves whose going evens it out most; one pod per node and cycle.
//
//   score = standard deviation of requested/allocatable over the resources
//   worked: 8 of 10 cores and 20 of 100 GiB: fractions 0.8 and 0.2, score 0.30

#include <string>
#include <vector>

#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

struct FragmentationArgs {
  bool paused = false;
  bool dryRun = false;
  bool nodeFit = true;
  MaybeSelector nodeSelector;
  PodChoice choice;
  std::vector<std::string> resources = {"cpu", "memory"};
  double imbalance = 0.15;    // imbalanceThreshold
  double improvement = 0.02;  // minImprovementThreshold
};
Result<FragmentationArgs> readFragmentationArgs(const json::Value& args);

// Resources that the node does not have are left out; of one or none the score is 0.
double imbalanceOf(const api::ResourceList& requested, const api::ResourceList& allocatable,
                   const std::vector<std::string>& resources);

class FragmentationAware final : public Plugin {
 public:
  static constexpr std::string_view kName = "FragmentationAware";
  explicit FragmentationAware(FragmentationArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  struct Best {
    const api::Pod* pod = nullptr;
    double after = 0;
    double gain = 0;
  };
  Best bestOf(const api::Node& node, const api::ResourceList& requested, double before,
              const Nodes& others, Round& round) const;

  FragmentationArgs args_;
};

}  // namespace mangrove::descheduler
