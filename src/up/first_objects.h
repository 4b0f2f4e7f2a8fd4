#pragma once
// What a machine starts with: the namespace, the priority classes and the configuration that make
// colocation work, as ordinary objects a person can edit. Made once; what is there is left alone.

#include <string>
#include <vector>

#include "base/mailbox.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::up {

struct FirstObject {
  client::Kind kind;
  std::string ns;
  json::Object body;
};
std::vector<FirstObject> firstObjects();

// Creates those that are missing, one after the other; `done` runs on the owner thread.
void createFirstObjects(client::ApiClient& client, Mailbox& owner, Fn done);

}  // namespace mangrove::up
