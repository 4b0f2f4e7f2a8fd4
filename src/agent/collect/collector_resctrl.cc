// What resctrl counted: per class, and per pod where pods have groups.
#include "agent/collect/collector.h"
#include "agent/resctrl_names.h"
#include "kernel/hierarchies.h"

namespace mangrove::agent {
namespace {

// Groups of pods below resctrl's root, by name, and whose they are.
std::map<std::string, std::string> podGroups(const Machine& machine,
                                             const std::vector<std::string>& classes) {
  std::map<std::string, std::string> out;
  const std::string& top = machine.mounts().resctrl;
  if (auto entries = machine.root().list(top))
    for (const kernel::Entry& entry : *entries)
      if (entry.isDir && entry.name.starts_with(kPodResctrlPrefix))
        out[entry.name] = entry.name.substr(kPodResctrlPrefix.size());
  for (const std::string& name : classes) {
    const std::string dir = kernel::joinPath({name, "mon_groups"});
    if (auto entries = machine.root().list(kernel::joinPath({top, dir})))
      for (const kernel::Entry& entry : *entries)
        if (entry.isDir) out[kernel::joinPath({dir, entry.name})] = entry.name;
  }
  return out;
}

}  // namespace

void Collector::readResctrl() {
  resctrl_.clear();
  for (ResctrlGroup& group : resctrlGroups_) {
    if (!group.monitor) {
      auto opened = kernel::ResctrlMonitor::open(machine_.root(), machine_.mounts(), group.name);
      if (opened && *opened) group.monitor = std::move(**opened);
    }
    if (!group.monitor) continue;
    ResctrlLook one{group.name, {}};
    group.monitor->read([&](const kernel::CacheSample& s) { one.caches.push_back(s); });
    resctrl_.push_back(std::move(one));
  }
  look_.resctrl = resctrl_;
  readPodResctrl();
}

void Collector::readPodResctrl() {
  std::vector<std::string> classes;
  for (const ResctrlGroup& group : resctrlGroups_) classes.push_back(group.name);
  const auto groups = podGroups(machine_, classes);
  std::erase_if(podMonitors_, [&](const auto& one) { return groups.count(one.first) == 0; });
  podResctrl_.clear();
  for (const auto& [name, uid] : groups) {
    auto found = podMonitors_.find(name);
    if (found == podMonitors_.end()) {
      auto opened = kernel::ResctrlMonitor::open(machine_.root(), machine_.mounts(), name);
      if (!opened || !*opened) continue;
      found = podMonitors_.emplace(name, std::move(**opened)).first;
    }
    PodResctrlLook one{uid, {}};
    found->second.read([&](const kernel::CacheSample& s) { one.caches.push_back(s); });
    podResctrl_.push_back(std::move(one));
  }
  look_.podResctrl = podResctrl_;
}

}  // namespace mangrove::agent
