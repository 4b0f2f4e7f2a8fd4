#pragma once
// A role of its own process, to be replayed: its flags are read again from the session, its
// configuration files are those of then, and it meets the recording where it met the server.
//
//   auto subject = roleSubject(std::make_unique<SchedulerRole>(), session, house);

#include <memory>

#include "frame/record/replay.h"
#include "frame/role.h"

namespace mangrove::frame::record {

Result<std::unique_ptr<Subject>> roleSubject(std::unique_ptr<Role> role, const Session& session,
                                             ReplayHouse& house);

}  // namespace mangrove::frame::record
