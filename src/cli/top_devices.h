#pragma once
// mangrove top --by device: every card of a cluster, what is used of it, its health and who has it,
// from Device objects and the annotations of pods.

#include <string>
#include <vector>

#include "base/result.h"
#include "client/api_client.h"

namespace mangrove::cli {

struct CardLine {
  std::string node, type, id, health, core, memory, place;  // place: NUMA node and switch
  int32_t minor = 0;
  std::vector<std::string> holders;  // ns/name
};
// By node, type and minor. A kind that the server does not have is empty.
Result<std::vector<CardLine>> readCards(client::ApiClient& client);
std::string cardTable(const std::vector<CardLine>& cards);
std::string cardJson(const std::vector<CardLine>& cards);

}  // namespace mangrove::cli
