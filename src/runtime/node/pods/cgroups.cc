#include "runtime/node/pods/cgroups.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/make_cgroup.h"
#include "kernel/resource_names.h"

namespace mangrove::runtime {

namespace {

constexpr std::string_view kMount = "sys/fs/cgroup";
namespace name = kernel::resource_name;
using name::kProcs;

std::string joined(std::string_view a, std::string_view b) {
  if (a.empty()) return std::string(b);
  if (b.empty()) return std::string(a);
  return std::string(a) + "/" + std::string(b);
}

Result<std::string> readAll(const kernel::SysRoot& root, const std::string& path) {
  std::string buffer(64 * 1024, '\0');
  auto n = root.read(path, buffer);
  if (!n) return pass(n.error());
  buffer.resize(n->value_or(0));
  return buffer;
}

void killAll(const kernel::SysRoot& root, const std::string& dir) {
  if (root.write(joined(dir, name::kCgroupKill), "1")) return;
  auto text = readAll(root, joined(dir, kProcs));
  if (!text) return;
  for (auto line : splitTrimmed(*text, '\n'))
    if (auto pid = parseInt<pid_t>(line); pid && *pid > 1 && *pid != ::getpid())
      ::kill(*pid, SIGKILL);
}

template <class Visit>
void eachBelow(const kernel::SysRoot& root, const std::string& dir, Visit&& visit) {
  auto entries = root.list(dir);
  if (!entries) return;
  for (const auto& entry : *entries)
    if (entry.isDir) eachBelow(root, joined(dir, entry.name), visit);
  visit(dir);
}

}  // namespace

Result<Cgroups> Cgroups::open(const kernel::SysRoot& root, std::string parent,
                              kernel::BestEffortPlace bestEffort) {
  while (parent.starts_with('/')) parent.erase(0, 1);
  Cgroups out(root, std::move(parent), bestEffort);
  if (auto ok = out.findTrees(); !ok) return pass(ok.error());
  return out;
}

Result<> Cgroups::findTrees() {
  const std::string mount(kMount);
  auto unified = root_->exists(joined(mount, name::kCgroupControllers));
  if (unified && *unified) {
    version_ = kernel::CgroupVersion::kV2;
    trees_.push_back({mount, {}});
    return {};
  }
  auto entries = root_->list(mount);
  if (!entries) return entries.error().in("cgroups");
  for (const auto& entry : *entries) {
    auto is = root_->exists(joined(joined(mount, entry.name), kProcs));
    if (!entry.isDir || !is || !*is) continue;
    Tree tree{joined(mount, entry.name), {}};
    if (entry.name != "unified")
      for (auto name : splitTrimmed(entry.name, ',')) tree.controllers.emplace_back(name);
    trees_.push_back(std::move(tree));
  }
  if (treeOf("cpu") && treeOf("memory")) return {};
  auto elsewhere = readAll(*root_, joined(mount, "unified/cgroup.controllers"));
  const auto names =
      elsewhere ? splitTrimmed(trim(*elsewhere), ' ') : std::vector<std::string_view>();
  for (std::string_view name : {"cpu", "memory"})
    if (!treeOf(name) && std::find(names.begin(), names.end(), name) != names.end())
      return fail(
          Code::kUnsupported,
          "cgroups: the controller {} is in {}/unified while others are in trees of version "
          "1, and like a kubelet we work with one version at a time; boot with "
          "systemd.unified_cgroup_hierarchy=1 for version 2, or with =0 for version 1",
          name, mount);
  return fail(Code::kUnsupported,
              "cgroups: {} has neither the unified tree nor the cpu and "
              "memory controllers of version 1",
              mount);
}

const Cgroups::Tree* Cgroups::treeOf(std::string_view controller) const {
  for (const auto& tree : trees_) {
    if (isV2()) return &tree;
    if (std::find(tree.controllers.begin(), tree.controllers.end(), controller) !=
        tree.controllers.end())
      return &tree;
  }
  return nullptr;
}

namespace {

kernel::PodTier tierOf(api::KubeQos qos) {
  if (qos == api::KubeQos::kBurstable) return kernel::PodTier::kBurstable;
  return qos == api::KubeQos::kBestEffort ? kernel::PodTier::kBestEffort
                                          : kernel::PodTier::kGuaranteed;
}

}  // namespace

std::string Cgroups::tierPath(api::KubeQos qos) const {
  return joined(parent_, layout_.tierDir(tierOf(qos)));
}

std::string Cgroups::podPath(api::KubeQos qos, std::string_view uid) const {
  return joined(parent_, layout_.podDir(tierOf(qos), uid));
}

Result<> Cgroups::makeIn(const Tree& tree, const std::string& path) const {
  std::string dir = tree.dir;
  const bool cpuset = std::find(tree.controllers.begin(), tree.controllers.end(), "cpuset") !=
                      tree.controllers.end();
  const auto kind = isV2()   ? kernel::CgroupTreeKind::kUnified
                    : cpuset ? kernel::CgroupTreeKind::kCpuset
                             : kernel::CgroupTreeKind::kOther;
  for (auto part : splitTrimmed(path, '/')) {
    dir = joined(dir, part);
    if (auto ok = kernel::makeCgroup(*root_, dir, kind); !ok) return ok;
  }
  return {};
}

Result<> Cgroups::emptyParent() const {
  const std::string dir = joined(kMount, parent_);
  auto ordinary = root_->exists(joined(dir, name::kCgroupType));  // the machine's top has none
  if (!isV2() || !ordinary || !*ordinary) return {};
  auto members = readAll(*root_, joined(dir, kProcs));
  if (!members || trim(*members).empty()) return {};
  auto above = root_->dir(dir);
  if (!above) return pass(above.error());
  if (::mkdirat(above->fd(), "mangrove", 0755) < 0 && errno != EEXIST)
    return failErrno(errno, "making cgroup " + joined(dir, "mangrove"));
  for (auto pid : splitTrimmed(*members, '\n'))
    if (auto ok = root_->write(joined(dir, "mangrove/" + std::string(kProcs)), pid); !ok)
      return ok.error().in("moving process {} out of cgroup {}", pid, dir);
  return {};
}

void Cgroups::killTogether(const std::string& path) const {
  if (isV2()) (void)root_->write(joined(joined(kMount, path), name::kOomGroup), "1");
}

Result<> Cgroups::make(const std::string& path, const CgroupValues& values) const {
  for (const auto& tree : trees_)
    if (auto ok = makeIn(tree, path); !ok) return ok;
  return writeAll(path, controlWrites(values, version_));
}

Result<> Cgroups::writeAll(const std::string& path, const std::vector<ControlWrite>& writes) const {
  for (const auto& write : writes) {
    const Tree* tree = treeOf(write.controller);
    if (!tree) continue;
    auto ok = root_->write(joined(joined(tree->dir, path), write.file), write.value);
    if (!ok && !write.optional) return ok.error().in("cgroup {}", path);
  }
  return {};
}

Result<> Cgroups::resize(const std::string& path, const CgroupValues& values) const {
  return writeAll(path, resizeWrites(values, version_));
}

std::optional<Bytes> Cgroups::memoryUsage(const std::string& path) const {
  const Tree* tree = treeOf("memory");
  if (!tree) return std::nullopt;
  const auto file = kernel::findResource(name::kMemoryUsage)->fileOf(version_).name;
  auto text = readAll(*root_, joined(joined(tree->dir, path), file));
  auto value = text ? parseInt<int64_t>(trim(*text)) : std::nullopt;
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}

std::vector<std::string> Cgroups::joinDirs(const std::string& path) const {
  std::vector<std::string> dirs;
  for (const auto& tree : trees_) dirs.push_back(joined(tree.dir, path));
  return dirs;
}

bool Cgroups::isPods(const std::string& path) const {
  if (path.find("..") != std::string::npos) return false;
  for (const std::string& root : layout_.roots()) {
    const std::string all = joined(parent_, root) + "/";
    if (path.size() > all.size() && path.starts_with(all)) return true;
  }
  return false;
}

void Cgroups::kill(const std::string& path) const {
  if (!isPods(path)) return;
  for (const auto& tree : trees_)
    eachBelow(*root_, joined(tree.dir, path),
              [this](const std::string& dir) { killAll(*root_, dir); });
}

Result<> Cgroups::remove(const std::string& path) const {
  return isPods(path) ? removeTree(path) : Result<>();
}

Result<> Cgroups::removeTree(const std::string& path) const {
  Result<> result;
  for (const auto& tree : trees_) {
    eachBelow(*root_, joined(tree.dir, path), [&](const std::string& dir) {
      auto above = root_->dir(dir.substr(0, dir.rfind('/')));
      if (!above) return;
      const std::string name = dir.substr(dir.rfind('/') + 1);
      if (::unlinkat(above->fd(), name.c_str(), AT_REMOVEDIR) < 0 && errno == EBUSY)
        result = fail(Code::kUnavailable, "cgroup {} is in use", dir);
    });
  }
  return result;
}

void Cgroups::removeAll() const {
  for (const std::string& root : layout_.roots()) (void)removeTree(joined(parent_, root));
  for (std::string path = parent_; !path.empty();) {
    for (const auto& tree : trees_) {
      const std::string dir = joined(tree.dir, path);
      auto above = root_->dir(dir.substr(0, dir.rfind('/')));
      if (above) ::unlinkat(above->fd(), dir.substr(dir.rfind('/') + 1).c_str(), AT_REMOVEDIR);
    }
    const size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
}

bool Cgroups::exists(const std::string& path) const {
  auto there = root_->exists(joined(trees_.front().dir, path));
  return there && *there;
}

std::vector<std::pair<std::string, std::string>> Cgroups::pods() const {
  std::vector<std::pair<std::string, std::string>> out;
  const Tree* tree = treeOf("cpu");
  for (auto qos :
       {api::KubeQos::kGuaranteed, api::KubeQos::kBurstable, api::KubeQos::kBestEffort}) {
    auto entries = root_->list(joined(tree->dir, tierPath(qos)));
    if (!entries) continue;
    for (const auto& entry : *entries)
      if (auto uid = entry.isDir ? layout_.podOf(entry.name) : fail(Code::kNotFound, "no cgroup"))
        out.emplace_back(*std::move(uid), joined(tierPath(qos), entry.name));
  }
  return out;
}

void Cgroups::setTierShares(api::KubeQos qos, int64_t shares) const {
  CgroupValues values;
  values.shares = shares;
  (void)make(tierPath(qos), values);
}

}  // namespace mangrove::runtime
