#pragma once
// Discovery: which groups, versions and resources there are. In both forms: one document per group
// and version (/api, /api/v1, /apis, /apis/GROUP, /apis/GROUP/VERSION), and the aggregated one that
// current clients ask for first (Accept: …;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList).
// Also what else a client looks at before it starts: /version and the list of paths at /.
//
//   Discovery discovery(resources);
//   to->answer(discovery.answer(call.info.path, call.accept));   // serve.h does that
//
// Documents are made when they are first asked for and kept until Resources::generation() changes.
// Owner thread.

#include <map>
#include <string>
#include <string_view>

#include "apiserver/answer.h"
#include "apiserver/core/resources.h"
#include "apiserver/output/groups.h"

namespace mangrove::apiserver {

// The Kubernetes version we speak like: kubectl warns when it differs much from its own.
inline constexpr std::string_view kServerVersion = "v1.35.4+mangrove";

class Discovery {
 public:
  explicit Discovery(const Resources& resources) : resources_(resources) {}
  // Anything at or below /api and /apis; 404 for groups that are not there.
  Answer answer(std::string_view path, std::string_view accept);
  // {"paths":["/api",…]}
  Answer paths();

 private:
  const std::vector<Group>& groups();
  Answer plain(std::string_view path);
  struct Document {
    std::string body;
    std::string tag;  // "" for the plain form, which clients do not keep
  };
  const Document& aggregated(bool core, std::string_view version);

  const Resources& resources_;
  uint64_t generation_ = 0;  // of groups_ and documents_
  std::vector<Group> groups_;
  std::map<std::string, Document, std::less<>> documents_;
};

// The parts, pure.
std::string apiVersionsText();
std::string groupListText(std::span<const Group> groups);
std::string groupText(const Group& group);
std::string resourceListText(const GroupVersion& version);
std::string aggregatedText(std::span<const Group> groups, std::string_view version);
std::string versionText();

}  // namespace mangrove::apiserver
