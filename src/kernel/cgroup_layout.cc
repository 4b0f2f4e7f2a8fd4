#include "kernel/cgroup_layout.h"

#include <algorithm>
#include <vector>

#include "base/text/strings.h"

namespace mangrove::kernel {
namespace {

struct Runtime {
  std::string_view scheme;  // in the container id
  std::string_view prefix;  // of the scope under systemd
};
constexpr Runtime kRuntimes[] = {
    {"docker", "docker-"},
    {"containerd", "cri-containerd-"},
    {"cri-o", "crio-"},
    {"pouch", "pouch-"},
};
constexpr std::string_view kScope = ".scope", kSlice = ".slice";

std::string underscored(std::string_view uid) {
  std::string out(uid);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

Failure noContainer(std::string_view name) {
  return fail(Code::kNotFound, "'{}' is no container's cgroup", name);
}

std::string_view slicePrefix(PodTier tier) {
  switch (tier) {
    case PodTier::kBurstable:
      return "kubepods-burstable-pod";
    case PodTier::kBestEffort:
      return "kubepods-besteffort-pod";
    case PodTier::kGuaranteed:
      break;
  }
  return "kubepods-pod";
}

}  // namespace

std::string_view driverName(CgroupDriver driver) {
  return driver == CgroupDriver::kSystemd ? "systemd" : "cgroupfs";
}

std::string CgroupLayout::tierDir(PodTier tier) const {
  const bool systemd = driver_ == CgroupDriver::kSystemd;
  if (tier == PodTier::kGuaranteed) return systemd ? "kubepods.slice" : "kubepods";
  if (tier == PodTier::kBurstable)
    return systemd ? "kubepods.slice/kubepods-burstable.slice" : "kubepods/burstable";
  if (bestEffort_ == BestEffortPlace::kBeside) return "kubepods-besteffort";
  return systemd ? "kubepods.slice/kubepods-besteffort.slice" : "kubepods/besteffort";
}

std::vector<std::string> CgroupLayout::roots() const {
  if (bestEffort_ == BestEffortPlace::kInside) return {root()};
  return {root(), tierDir(PodTier::kBestEffort)};
}

std::string CgroupLayout::podDir(PodTier tier, std::string_view uid) const {
  if (driver_ == CgroupDriver::kCgroupfs) return fmt::format("{}/pod{}", tierDir(tier), uid);
  return fmt::format("{}/{}{}{}", tierDir(tier), slicePrefix(tier), underscored(uid), kSlice);
}

Result<std::string> CgroupLayout::containerDir(std::string_view podDir, std::string_view id) const {
  const size_t mark = id.find("://");
  if (mark == std::string_view::npos)
    return invalid("container id '{}': want <runtime>://<id>", id);
  const std::string_view scheme = id.substr(0, mark), hash = id.substr(mark + 3);
  for (const Runtime& runtime : kRuntimes) {
    if (runtime.scheme != scheme) continue;
    if (driver_ == CgroupDriver::kCgroupfs) return joinPath({podDir, hash});
    return joinPath({podDir, fmt::format("{}{}{}", runtime.prefix, hash, kScope)});
  }
  return invalid("container id '{}': the runtime is none of docker, containerd, cri-o, pouch", id);
}

Result<std::string> CgroupLayout::podOf(std::string_view name) const {
  if (driver_ == CgroupDriver::kCgroupfs) {
    if (name.starts_with("pod")) return std::string(name.substr(3));
  } else if (name.ends_with(kSlice)) {
    const std::string_view stem = name.substr(0, name.size() - kSlice.size());
    for (PodTier tier : {PodTier::kGuaranteed, PodTier::kBurstable, PodTier::kBestEffort})
      if (stem.starts_with(slicePrefix(tier)))
        return std::string(stem.substr(slicePrefix(tier).size()));
  }
  return fail(Code::kNotFound, "'{}' is no pod's cgroup", name);
}

Result<std::string> CgroupLayout::containerOf(std::string_view name) const {
  if (driver_ == CgroupDriver::kCgroupfs) return std::string(name);
  for (const Runtime& runtime : kRuntimes) {
    if (runtime.scheme == "pouch" || !name.starts_with(runtime.prefix)) continue;
    std::string_view id = name.substr(runtime.prefix.size());
    if (id.ends_with(kScope)) return std::string(id.substr(0, id.size() - kScope.size()));
    // CRI-O's sandboxes have no suffix.
    if (runtime.scheme == "cri-o") return std::string(id);
  }
  return noContainer(name);
}

Result<std::string> CgroupLayout::anyContainerOf(std::string_view name) const {
  constexpr std::string_view kPouch = "pouch-";
  if (driver_ == CgroupDriver::kSystemd && name.starts_with(kPouch) && name.ends_with(kScope))
    return std::string(name.substr(kPouch.size(), name.size() - kPouch.size() - kScope.size()));
  return containerOf(name);
}

Result<std::string> sandboxOf(const CgroupLayout& layout, std::span<const std::string> names,
                              std::span<const std::string> known) {
  if (known.empty()) return std::string();
  std::vector<std::string> candidates;
  for (const std::string& name : names) {
    const bool crio = name.starts_with("crio-");
    if (crio && name.ends_with(kScope)) continue;
    const auto id = layout.anyContainerOf(name);
    if (!id || std::find(known.begin(), known.end(), *id) != known.end()) continue;
    const auto* runtime =
        std::find_if(std::begin(kRuntimes), std::end(kRuntimes),
                     [&](const Runtime& r) { return name.starts_with(r.prefix); });
    // A bare directory name does not tell the runtime: containerd is by far the most frequent.
    const std::string_view scheme =
        runtime == std::end(kRuntimes) ? std::string_view("containerd") : runtime->scheme;
    candidates.push_back(fmt::format("{}://{}", scheme, *id));
  }
  if (candidates.size() == 1) return candidates.front();
  return fail(Code::kNotFound, "{} directories could be the sandbox, want 1", candidates.size());
}

bool samePod(std::string_view idOfDir, std::string_view uid) {
  return std::equal(idOfDir.begin(), idOfDir.end(), uid.begin(), uid.end(), [](char a, char b) {
    return a == b || ((a == '_' || a == '-') && (b == '_' || b == '-'));
  });
}

std::string joinPath(std::initializer_list<std::string_view> parts) {
  std::vector<std::string_view> kept;
  for (std::string_view part : parts) {
    for (std::string_view word : split(part, '/')) {
      if (word.empty() || word == ".") continue;
      if (word != "..")
        kept.push_back(word);
      else if (!kept.empty())
        kept.pop_back();
    }
  }
  return join(kept, "/");
}

}  // namespace mangrove::kernel
