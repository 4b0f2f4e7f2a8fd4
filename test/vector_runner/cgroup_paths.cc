// Cgroup directory and file names.
#include "agent/collect/host_app_path.h"
#include "kernel/control_files.h"
#include "kernel/testing/fake_root.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

kernel::CgroupLayout layoutOf(const json::Object& c) {
  return kernel::CgroupLayout(text(c, "driver") == "systemd" ? kernel::CgroupDriver::kSystemd
                                                             : kernel::CgroupDriver::kCgroupfs);
}

kernel::PodTier tierOf(const json::Object& c) {
  const std::string_view qos = text(c, "kube_qos");
  if (qos == "Burstable") return kernel::PodTier::kBurstable;
  return qos == "BestEffort" ? kernel::PodTier::kBestEffort : kernel::PodTier::kGuaranteed;
}

void expectResult(const json::Object& c, const Result<std::string>& got, Report& r) {
  r.expect("error", member(c, "error"), !got.has_value());
  if (got) r.expect("expect", member(c, "expect"), json::Value(*got));
}

api::HostApplication applicationOf(const json::Object& a) {
  api::HostApplication app;
  app.name = text(a, "name");
  app.qos = text(a, "qos");
  if (const json::Value& path = member(a, "cgroupPath"); path.is_object()) {
    const json::Object& p = path.get_object();
    app.cgroupPath = {std::string(text(p, "base")), std::string(text(p, "parentDir")),
                      std::string(text(p, "relativePath"))};
  }
  return app;
}

// The table of files needs a machine of the right version: the smallest that is recognised.
void filePathCase(const json::Object& c, Report& r) {
  const std::string cgroupRoot(text(c, "cgroup_root").substr(1));
  kernel::FakeRoot fs;
  if (number(c, "cgroup_version") == 2)
    fs.write(cgroupRoot + "/cgroup.controllers", "cpu memory\n");
  else
    fs.add(kernel::dir(cgroupRoot + "/cpu"));
  kernel::Mounts mounts;
  mounts.cgroup = cgroupRoot;
  const auto trees = kernel::Hierarchies::detect(fs.root(), mounts);
  const kernel::ControlResource* resource = kernel::findResource(text(c, "resource"));
  if (!trees || resource == nullptr) return r.mismatch("resource", text(c, "resource"), "unknown");
  const auto path = kernel::filePath(*trees, *resource, text(c, "parent_dir"));
  r.expect("registered", member(c, "registered"), path.has_value());
  if (path) r.expect("expect", member(c, "expect"), json::Value("/" + *path));
}

}  // namespace

void cgroupPaths(const json::Object& c, Report& r) {
  const std::string_view op = text(c, "op");
  if (op == "file_path") return filePathCase(c, r);
  const kernel::CgroupLayout layout = layoutOf(c);
  const auto same = [&](const std::string& got) {
    r.expect("expect", member(c, "expect"), json::Value(got));
  };
  if (op == "qos_dir") return same(layout.tierDir(tierOf(c)));
  if (op == "pod_dir") return same(layout.podDir(tierOf(c), text(c, "uid")));
  if (op == "container_dir")
    return expectResult(c, layout.containerDir(text(c, "pod_dir"), text(c, "container_id")), r);
  if (op == "pod_id_of_dir") return expectResult(c, layout.podOf(text(c, "dir")), r);
  if (op == "container_id_of_dir") return expectResult(c, layout.containerOf(text(c, "dir")), r);
  if (op == "host_app_dir")
    return same(agent::hostAppDir(applicationOf(c.at("application").get_object()), layout));
  r.mismatch("op", "a known one", op);
}

}  // namespace mangrove::vectors
