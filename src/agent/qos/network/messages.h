#pragma once
// A NetPlan in the kernel's routing language (rtnetlink): a hierarchical token bucket at the
// device's root, its classes, and filters that sort packets by cgroup and by a pod's address. Pure
// functions from values to bytes; any thread.
//
//   for (const std::string& message : planMessages(plan, deviceIndex)) send(message);

#include <cstdint>
#include <string>
#include <vector>

#include "agent/executor/net_plan.h"

namespace mangrove::agent {

// Everything below the root; `fresh` makes the root as well.
std::vector<std::string> planMessages(const NetPlan& plan, int device, bool fresh);
// A filter: classes are worth having without it.
bool isOptional(const std::string& message);
std::string removeMessage(int device);
// Asks for the root queue of every device; answers are read by rootHandleIn.
std::string listMessage();

// The handle of the device's root in one answer of the kernel; 0: it is about something else.
uint32_t rootHandleIn(const char* message, size_t size, int device);
inline constexpr uint32_t kOurRoot = 0x10000;  // 1:

}  // namespace mangrove::agent
