#pragma once
// Whether an IP address is one of this machine's own, on whatever interface: asked of the kernel
// each time, since addresses come and go. Any thread.
//
//   if (isOwnAddress("::ffff:10.0.0.5")) …     // IPv4 in either spelling

#include <functional>
#include <string_view>

namespace mangrove::net {

bool isOwnAddress(std::string_view address);
using IsOwnAddress = std::function<bool(std::string_view address)>;  // tests have their own

}  // namespace mangrove::net
