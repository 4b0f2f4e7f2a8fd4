#include "agent/collect/host_app_path.h"

#include "api/pod/classes.h"

namespace mangrove::agent {
namespace {

std::string baseDir(std::string_view base, const kernel::CgroupLayout& layout) {
  using kernel::PodTier;
  if (base == "Kubepods") return layout.tierDir(PodTier::kGuaranteed);
  if (base == "KubepodsBurstable") return layout.tierDir(PodTier::kBurstable);
  if (base == "KubepodsBesteffort") return layout.tierDir(PodTier::kBestEffort);
  return "";  // CgroupRoot
}

// A path that begins with a slash goes on to do so.
std::string joined(std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (!part.empty()) return (part.front() == '/' ? "/" : "") + kernel::joinPath(parts);
  return "";
}

}  // namespace

std::string hostAppDir(const api::HostApplication& app, const kernel::CgroupLayout& layout) {
  if (app.cgroupPath)
    return joined({baseDir(app.cgroupPath->base, layout), app.cgroupPath->parentDir,
                   app.cgroupPath->relativePath});
  switch (api::parseQos(app.qos)) {
    case api::Qos::kLse:
    case api::Qos::kLsr:
    case api::Qos::kLs:
      return kernel::joinPath({"host-latency-sensitive", app.name});
    case api::Qos::kBe:
      return kernel::joinPath({"host-best-effort", app.name});
    default:
      return joined({app.name});
  }
}

}  // namespace mangrove::agent
