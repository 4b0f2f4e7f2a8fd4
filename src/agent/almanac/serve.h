#pragma once
// The almanac beside a running agent, and what it answers to people:
//
//   GET /almanac                               what it knows: subjects, bytes
//   GET /almanac?subject=node&hours=168&step=60    cells of the last week, an hour each (minutes)
//   GET /almanac?subject=node&ahead=2          what the coming hours may bring, by yesterday and last week
//
//   auto almanac = keepAlmanac(agent, dir, ops);      // owner thread; answers on an I/O thread

#include <memory>
#include <string>
#include <string_view>

#include "agent/agent.h"
#include "agent/almanac/almanac.h"
#include "frame/ops_server.h"
#include "json/value.h"

namespace mangrove::agent {

// `ops` may be null: it is kept and not served. `isAsked`: prediction asks it what comes every day and
// every week.
std::shared_ptr<Almanac> keepAlmanac(Agent& agent, const std::string& dir, frame::OpsServer* ops,
                                     const Clock& clock, bool isAsked = true);
// Any thread, as long as both live: answerAlmanac of now, as text.
Result<std::string> tellAlmanac(const Almanac& almanac, std::string_view target,
                                const Clock& clock);

// `target`: of a request; `now`: minutes since 1970. A wrong parameter is an error that says what
// would be right.
Result<json::Value> answerAlmanac(const Almanac& almanac, std::string_view target, int64_t now);
// Of answers like the above, for people: a line for each cell.
std::string almanacText(const json::Value& answer);

}  // namespace mangrove::agent
