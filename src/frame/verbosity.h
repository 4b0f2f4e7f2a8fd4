#pragma once
// How much a running role logs.
//
//   frame::setVerbosity(4);      // as if it had been started with -v 4
//
// Any thread.

#include <cstdint>

namespace mangrove::frame {

// What --vmodule and --logging-format asked for stays.
void setVerbosity(int64_t v);

}  // namespace mangrove::frame
