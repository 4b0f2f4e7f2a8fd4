#pragma once
// What both ends of SPDY/3 feed their compressors before the first header. Internal to net/.

#include <string>
#include <string_view>

namespace mangrove::net {

const std::string& spdyDictionary();

}  // namespace mangrove::net
