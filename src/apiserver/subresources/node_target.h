#pragma once
// What a request for a part of a running pod means: which container, which options. Pure functions
// from the query and the pod's JSON; the answers to mistakes are Kubernetes' own.

#include "apiserver/core/call.h"
#include "base/number/units.h"
#include "frame/node_runner.h"
#include "json/value.h"

namespace mangrove::apiserver {

// `pod` is the stored object. The container is the one named, or the only one; 400 names the choice
// when there is more than one. Ordinary, init and ephemeral containers can be named.
Outcome<frame::ContainerTarget> containerTarget(const RequestInfo& info, const json::Object& pod);

// tailLines, sinceSeconds or sinceTime, limitBytes, follow, previous, timestamps, stream.
Outcome<frame::LogOptions> logOptions(const RequestInfo& info, WallTime now);

// command, stdin, stdout, stderr, tty. `attach` has no command; exec must have one. With a terminal
// there is no separate stderr.
Outcome<frame::SessionOptions> sessionOptions(const RequestInfo& info, bool attach);

// The `ports` of the query, for clients that name them there; 400 for what is no port.
Outcome<std::vector<uint16_t>> forwardPorts(const RequestInfo& info);

}  // namespace mangrove::apiserver
