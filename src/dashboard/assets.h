#pragma once
// The dashboard's pages as they lie in web/, part of the binary (cmake/Embed.cmake).

#include <span>

#include "base/asset.h"

namespace mangrove::dashboard {

std::span<const Asset> webAssets();

}  // namespace mangrove::dashboard
