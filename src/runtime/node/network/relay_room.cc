#include "runtime/node/network/relay_room.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <sys/resource.h>

#include "base/os/log.h"

namespace mangrove::runtime {

namespace {

const Logger logger("runtime");

std::string addressText(uint32_t client) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &client, text, sizeof text);
  return text;
}

// As many descriptors as a busy machine needs, where the administrator allows them.
size_t descriptors() {
  constexpr rlim_t kWished = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < std::min(limit.rlim_max, kWished)) {
    limit.rlim_cur = std::min(limit.rlim_max, kWished);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<size_t>(std::min(limit.rlim_cur, kWished));
}

}  // namespace

struct RelayRoom::State {
  struct Client {
    size_t held = 0;
    bool told = false;  // that it gets no more
  };

  State(size_t t, size_t e) : total(t), each(e) {}

  bool take(uint32_t address) {
    std::lock_guard lock(mutex);
    Client& client = clients[address];
    if (all < total && client.held < each) {
      ++all;
      ++client.held;
      return true;
    }
    if (each < total && client.held >= each && !std::exchange(client.told, true))
      logger.warn(
          "connections through services and host ports: {} has {}, and gets no more until some end",
          addressText(address), client.held);
    if (all >= total && !std::exchange(toldAll, true))
      logger.warn("services and host ports: all {} {} are taken", total,
                  each < total ? "connections" : "ports to listen on");
    if (client.held == 0) clients.erase(address);
    return false;
  }

  void giveBack(uint32_t address) {
    std::lock_guard lock(mutex);
    if (--all < total / 2) toldAll = false;
    auto found = clients.find(address);
    if (--found->second.held == 0) clients.erase(found);
  }

  const size_t total, each;
  std::mutex mutex;
  std::map<uint32_t, Client> clients;
  size_t all = 0;
  bool toldAll = false;
};

RelayRoom::RelayRoom(size_t total, size_t each) : state_(std::make_shared<State>(total, each)) {}

RelayRoom& RelayRoom::ofProcess() {
  static RelayRoom room = [] {
    const size_t total = descriptors() / 4;  // two each
    return RelayRoom(total, std::max<size_t>(total / 4, 16));
  }();
  return room;
}

RelayRoom& RelayRoom::ofPorts() {
  static RelayRoom room = [] {
    const size_t total = descriptors() / 8;
    return RelayRoom(total, total);
  }();
  return room;
}

RelayRoom::Place RelayRoom::take(uint32_t client) {
  if (!state_->take(client)) return nullptr;
  return {state_.get(), [state = state_, client](const State*) { state->giveBack(client); }};
}

}  // namespace mangrove::runtime
