#pragma once
// Names of images, and whether one must be fetched. Pure; any thread.
//
//   taggedImage("nginx")                      → "nginx:latest"
//   placeOf("nginx")                          → "index.docker.io/library/nginx"
//   placeOf("127.0.0.1:5000/team/web:1.2")    → "127.0.0.1:5000/team/web"

#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::runtime::cri {

// As the runtime is asked for it: without tag and digest it is the latest. kInvalid for what is no
// name of an image.
Result<std::string> taggedImage(std::string_view image);
// Registry and repository, without tag and digest, as credentials are looked up.
std::string placeOf(std::string_view image);

enum class PullWish { kPull, kUse, kNever };  // kNever: it is not there and may not be fetched
// `policy`: Always, Never or IfNotPresent.
PullWish wishOf(std::string_view policy, bool isPresent);

}  // namespace mangrove::runtime::cri
