#pragma once
// Which credentials of a pod's pull secrets fit an image. A secret holds either form that docker
// writes: {"auths": {HOST: {…}}} (.dockerconfigjson) or {HOST: {…}} (.dockercfg).
//
//   for (const Credentials& one : credentialsFor("registry.local/team/web:1", secrets)) …
//
// The most specific first, in the order of the secrets where they are equally so; a secret that
// cannot be read counts as none and is named in `troubles`. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cri/messages.h"

namespace mangrove::runtime::cri {

struct PullSecret {
  std::string name;
  std::string content;  // JSON
};

std::vector<Credentials> credentialsFor(std::string_view image,
                                        const std::vector<PullSecret>& secrets,
                                        std::vector<std::string>* troubles = nullptr);

}  // namespace mangrove::runtime::cri
