#pragma once
// What an agent tells under /controls, for people: each control value on the machine, who wants it,
// why, since when, what it was. Pure functions, any thread.
//
//   controlsText(*json::parse(body), "")            // everything on the node
//   controlsText(*json::parse(body), podUid)        // one pod and its containers

#include <string>
#include <string_view>

#include "json/value.h"

namespace mangrove::agent {

// Only what is about the pod; everything when `podUid` is empty.
json::Value controlsOf(const json::Value& told, std::string_view podUid);
std::string controlsText(const json::Value& told, std::string_view podUid);

}  // namespace mangrove::agent
