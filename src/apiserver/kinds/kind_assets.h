#pragma once
// Files that are part of the program (cmake/Embed.cmake): the kind tables of this folder and the
// custom resource definitions of config/crd that every server has from its first start. The bytes
// live as long as the process; any thread.

#include <span>

#include "base/asset.h"

namespace mangrove::apiserver {

std::span<const Asset> kindTableAssets();   // kinds/*.txt
std::span<const Asset> builtInCrdAssets();  // config/crd/*.yaml as JSON, one definition each

}  // namespace mangrove::apiserver
