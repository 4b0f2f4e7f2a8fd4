#pragma once
// GET /events?size=N&pageToken=T: pages of the audit log, as the agent ours replaces serves them.
// `Accept: application/json` gives one object, anything else a line per event with the token in the
// header Next-Page-Token.
//
//   ops.route("/events", [&](const net::HttpRequest& r) { return serveEvents(events.get(), r); });
//
// Any thread.

#include "agent/audit/events.h"
#include "net/http/http.h"

namespace mangrove::agent {

// Null: nothing is logged; an empty answer.
net::HttpResponse serveEvents(AuditEvents* events, const net::HttpRequest& request);

}  // namespace mangrove::agent
