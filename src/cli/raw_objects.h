#pragma once
// Objects as the server has them, for commands that look at much and change little.
//
//   auto pods = listRaw(client, api::kind::kPod);             // every page
//   std::string image = textAt(pods->front(), {"metadata", "name"});
//
// The lookups are pure; listRaw asks the server.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::cli {

// A kind that the server does not know has no objects.
Result<std::vector<json::Value>> listRaw(client::ApiClient& client, const client::Kind& kind,
                                         const std::string& ns = "");

// What is at that path of members; null or "" when nothing is.
const json::Value* valueAt(const json::Value& from, std::initializer_list<std::string_view> path);
std::string textAt(const json::Value& from, std::initializer_list<std::string_view> path);
// The elements there; none when it is no list.
std::vector<json::Value> elementsAt(const json::Value& from,
                                    std::initializer_list<std::string_view> path);

}  // namespace mangrove::cli
