#pragma once
// Files and variables that come from ConfigMaps, Secrets, tokens and the pod itself. Blocking: for
// the threads that prepare pods.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/api_client.h"
#include "json/value.h"
#include "runtime/core/downward.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

struct FileContent {
  std::string bytes;
  std::optional<int> mode = {};
  std::optional<int64_t> uid = {}, gid = {};  // nullopt: our own
};
using Files = std::map<std::string, FileContent>;  // by path below the volume

class ConfigSource {
 public:
  ConfigSource(client::ApiClient& client, Clock& clock) : client_(client), clock_(clock) {}

  // All keys, decoded. kNotFound names the object: configmap "x" not found.
  Result<std::map<std::string, std::string>> configMap(const std::string& ns,
                                                       const std::string& name);
  Result<std::map<std::string, std::string>> secret(const std::string& ns, const std::string& name);
  // What a RuntimeClass calls the handler of the container runtime.
  Result<std::string> runtimeHandler(const std::string& name);
  // Where the data of a bound claim is on this machine.
  Result<std::string> claimPath(const std::string& ns, const std::string& claim);
  // Asked for once and again when four fifths of its life, or a day, are over.
  Result<std::string> token(const RunPod& pod, const std::string& audience, int64_t seconds);
  // The tokens of a pod that is gone.
  void forget(const std::string& uid);

  // The content of a configMap, secret, downward or projected volume.
  Result<Files> volumeFiles(const RunPod& pod, const DownwardFacts& facts,
                            const api::RunVolume& volume);

 private:
  Result<Files> projected(const RunPod& pod, const DownwardFacts& facts,
                          const api::RunVolume& volume);
  Result<Files> projectedSource(const RunPod& pod, const DownwardFacts& facts,
                                const json::Object& source);
  Result<std::string> requestToken(const RunPod& pod, const std::string& audience, int64_t seconds);

  struct Token {
    std::string text;
    WallTime renewAt;
  };
  client::ApiClient& client_;
  Clock& clock_;
  std::mutex tokensMutex_;               // preparing threads are several
  std::map<std::string, Token> tokens_;  // by "uid seconds audience"
};

// Picks `items` (all when empty) out of what there is. Pure.
Result<Files> selectItems(const std::map<std::string, std::string>& data,
                          const std::vector<api::KeyToPath>& items, bool optional,
                          const std::string& what);

}  // namespace mangrove::runtime
