#pragma once
// The last ten minutes of what services showed and pods used, in step with each other, for the
// correlation. One owner.

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/interference/scene.h"

namespace mangrove::agent::interference {

class Past {
 public:
  static constexpr size_t kSamples = 60;
  static constexpr Duration kEvery = std::chrono::seconds(10);

  // Takes a sample when one is due; forgets who is not there any more.
  void add(const Scene& scene);
  // Of a service's signal against a pod's use of the resource; `threshold` in the signal's unit.
  double correlation(const std::string& service, std::string_view signal, Resource resource,
                     double threshold, const std::string& pod) const;
  // How much more cache a pod has than in the five samples before; 0 where it is not measured.
  double cacheRise(const std::string& pod, double now) const;
  // The pod's mean use over the last minute, cores.
  double usualOf(const std::string& pod) const;

 private:
  using Series = std::deque<double>;
  struct Signals {
    Series cpu, memory, io, cpi, latency, lost;
    double lastCpi = 0;
  };
  struct Use {
    Series cores, memory, io, cache, bandwidth;
  };
  static void push(Series& series, double value);
  static const Series& signalOf(const Signals& all, std::string_view signal, Resource resource);
  static const Series& usedOf(const Use& use, Resource resource);

  std::map<std::string, Signals> services_;
  std::map<std::string, Use> pods_;
  MonoTime next_ = MonoTime::min();
};

}  // namespace mangrove::agent::interference
