#pragma once
// Who was recorded: what a replay needs to make the same role again.
//
//   Session session = sessionOf("scheduler", args);        // reads the files that flags name
//   json::write(toJson(session))
//
// Values; pure but for sessionOf, which reads files.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace mangrove::frame::record {

struct Session {
  std::string role = {};      // "scheduler"; of `up`'s mates "up/koord-scheduler"
  std::string version = {};   // of the program that recorded
  std::string identity = {};  // in leases
  std::vector<std::string> args = {};
  std::map<std::string, std::string> files = {};  // configuration that args name, by path
  uint64_t part = 1;                              // 1: the process began with this file
};

json::Value toJson(const Session& session);
Result<Session> sessionFrom(std::string_view text);

// With the contents of --config and --scheduler-config; never of credentials.
Session sessionOf(std::string_view role, const std::vector<std::string>& args);
// The arguments with every file of the session written into `folder` and named there.
Result<std::vector<std::string>> argsIn(const Session& session, const std::string& folder);

}  // namespace mangrove::frame::record
