#pragma once
// The rules of the Pod Security Standards, one function each: nullopt when the pod keeps to it, or
// who breaks it and what would be right. Pure; the table of levels.cc says where each belongs.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::apiserver::pod_security {

class Pod {
 public:
  Pod(const json::Object& metadata, const json::Object& spec, int minor);

  struct Container {
    std::string name;
    const json::Object* object;
    const json::Object* security;  // null: none
  };
  const json::Object& metadata() const { return metadata_; }
  const json::Object& spec() const { return spec_; }
  int minor() const { return minor_; }
  const json::Object* security() const { return security_; }  // of the pod; null: none
  const std::vector<Container>& containers() const { return containers_; }  // all kinds
  bool isWindows() const;
  bool hasOwnUsers() const;  // hostUsers: false

 private:
  const json::Object& metadata_;
  const json::Object& spec_;
  const int minor_;
  const json::Object* security_;
  std::vector<Container> containers_;
};

using Broken = std::optional<std::string>;

// Baseline.
Broken appArmor(const Pod& pod);
Broken addedCapabilities(const Pod& pod);
Broken hostNamespaces(const Pod& pod);
Broken hostPaths(const Pod& pod);
Broken hostPorts(const Pod& pod);
Broken probedHosts(const Pod& pod);
Broken privileged(const Pod& pod);
Broken procMount(const Pod& pod);
Broken procMountOfMachineUsers(const Pod& pod);  // lenient to pods with users of their own
Broken seccompAnnotations(const Pod& pod);
Broken seccompForbidden(const Pod& pod);
Broken seLinux(const Pod& pod);
Broken sysctls(const Pod& pod);
Broken hostProcess(const Pod& pod);
Broken callersFiles(const Pod& pod);  // ours: a pod of `mangrove run`
// Restricted.
Broken escalation(const Pod& pod);
Broken keptCapabilities(const Pod& pod);
Broken volumeTypes(const Pod& pod);
Broken nonRoot(const Pod& pod);
Broken rootUser(const Pod& pod);
Broken seccompRequired(const Pod& pod);

}  // namespace mangrove::apiserver::pod_security
