#pragma once
// A command's streams over one SPDY connection, as kubectl before 1.30 and older client libraries
// speak it: each channel is a stream of its own, named by its header "streamtype". The command
// begins once the client has opened all that its request promised.
//
//   spdyOf(*to)->upgradeToSpdy(spdyChannelProtocols(), [start = …](auto bytes) mutable {
//     startOverSpdy(std::move(bytes), options, std::move(start));
//   });
//
// Any thread.

#include <memory>
#include <string_view>
#include <vector>

#include "frame/node_runner.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::apiserver {

std::vector<std::string_view> spdyChannelProtocols();  // best first
void startOverSpdy(std::unique_ptr<net::ByteStream> bytes, const frame::SessionOptions& options,
                   frame::SessionStart start);

}  // namespace mangrove::apiserver
