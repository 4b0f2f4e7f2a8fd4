#pragma once
// How many connections the forwarders of this process carry at a time, together and for one client,
// and on how many ports they listen. Each costs descriptors of the process that is API server and
// store as well: a pod that opens connections without end, or a service of thousands of ports, runs
// out of them before the others do. Any thread.
//
//   auto place = RelayRoom::ofProcess().take(client);
//   if (place) startRelay(loop, std::move(from), std::move(to), std::move(place));

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mangrove::runtime {

class RelayRoom {
 public:
  RelayRoom(size_t total, size_t each);
  // Half of the descriptors that the process may have, an eighth for one client.
  static RelayRoom& ofProcess();
  // Ports, an eighth of the descriptors; nobody in particular takes them.
  static RelayRoom& ofPorts();

  // Given back with the last copy of it; null when there is none left. `client`: its IPv4 address
  // as sockets have it.
  using Place = std::shared_ptr<const void>;
  Place take(uint32_t client);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::runtime
