#pragma once
// Messages between a pod's shim and its runner: small JSON objects over a unix socket that keeps
// their bounds (SOCK_SEQPACKET), with descriptors passed along.
//
//   runner → shim: state · start · signal · exec (+ descriptors) · attach (+ socket) · resize ·
//                  network · quit
//   shim → runner: state · started · exited · failed · execExited
//
// One reader and one writer at a time per socket.

#include <string>
#include <string_view>
#include <vector>

#include "base/os/fd.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::runtime {

inline constexpr size_t kMaxMessage = 128 * 1024;

struct Message {
  json::Object body;
  std::vector<UniqueFd> fds;
  std::string_view word(std::string_view key) const;  // "" when it is not there or no text
  int64_t number(std::string_view key, int64_t otherwise = 0) const;
  bool flag(std::string_view key) const;
};

// kTimeout when the socket is full (EAGAIN); the message is lost then.
Result<> sendMessage(int socket, const json::Object& body, const std::vector<int>& fds = {});
// kGone at the end, kTimeout when nothing is there (EAGAIN).
Result<Message> receiveMessage(int socket);

// A listening socket at `path` (replaced when stale), and a connection to one.
Result<UniqueFd> listenSeqpacket(const std::string& path);
Result<UniqueFd> connectSeqpacket(const std::string& path);

}  // namespace mangrove::runtime
