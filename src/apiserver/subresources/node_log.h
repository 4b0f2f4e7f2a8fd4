#pragma once
// Carries a log to a client at the client's pace: the next piece is asked for when the last one has
// left. The transfer keeps itself alive until either side ends.

#include <memory>

#include "apiserver/core/call.h"
#include "base/mailbox.h"
#include "frame/node_runner.h"

namespace mangrove::apiserver {

// Owner thread.
void streamLog(Mailbox& owner, std::unique_ptr<frame::LogSource> source, Responder& to);

}  // namespace mangrove::apiserver
