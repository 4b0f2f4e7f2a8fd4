#include "frame/health.h"

#include <fmt/core.h>

namespace mangrove::frame {

void Health::live(std::string name, Probe probe) {
  std::lock_guard lock(mutex_);
  live_.push_back({std::move(name), std::move(probe)});
}

void Health::ready(std::string name, Probe probe) {
  std::lock_guard lock(mutex_);
  ready_.push_back({std::move(name), std::move(probe)});
}

Health::Verdict Health::liveness() const {
  std::vector<Named> probes;
  {
    std::lock_guard lock(mutex_);
    probes = live_;
  }
  return ask(probes, "healthz");
}

Health::Verdict Health::readiness() const {
  std::vector<Named> probes;
  {
    std::lock_guard lock(mutex_);
    probes = live_;
    probes.insert(probes.end(), ready_.begin(), ready_.end());
  }
  return ask(probes, "readyz");
}

Health::Verdict Health::ask(const std::vector<Named>& probes, std::string_view endpoint) const {
  Verdict verdict;
  for (const auto& [name, probe] : probes) {
    auto answer = probe();
    verdict.text += answer ? fmt::format("[+]{} ok\n", name)
                           : fmt::format("[-]{} failed: {}\n", name, answer.error().text());
    verdict.good = verdict.good && answer.has_value();
  }
  verdict.text += fmt::format("{} check {}\n", endpoint, verdict.good ? "passed" : "failed");
  return verdict;
}

}  // namespace mangrove::frame
