#pragma once
// A role that was recorded inside of `up`, made again for a replay.
//
//   if (session.role.starts_with("up/")) return mateSubject(session, house);

#include <memory>

#include "frame/record/replay.h"

namespace mangrove::up {

Result<std::unique_ptr<frame::record::Subject>> mateSubject(const frame::record::Session& session,
                                                            frame::record::ReplayHouse& house);

}  // namespace mangrove::up
