// What a pod's shim might send its runner: any bytes over a socket that keeps their bounds. What is
// taken for a message is sent and read again as the same.
#include <cstdint>
#include <string_view>

#include <sys/socket.h>

#include "base/check.h"
#include "base/os/fd.h"
#include "runtime/shim/message.h"

using namespace mangrove;
using namespace mangrove::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  int ends[2];
  CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0,
        "no sockets");
  UniqueFd out(ends[0]), in(ends[1]);
  if (::send(out.get(), data, size, MSG_NOSIGNAL) < 0) return 0;  // larger than a socket takes
  auto message = receiveMessage(in.get());
  if (!message) return 0;
  for (const auto& [key, value] : message->body) {
    message->word(key);
    message->number(key);
    message->flag(key);
  }
  const std::string text = json::writeSorted(message->body);
  if (text.size() > kMaxMessage / 2) return 0;
  CHECK(sendMessage(out.get(), message->body), "cannot be sent: {}", text);
  auto again = receiveMessage(in.get());
  CHECK(again, "{}: {}", text, again.error().text());
  // As values: -0 is written as Go writes it, and read as the integer.
  CHECK(json::equal(again->body, message->body), "{} then {}", text,
        json::writeSorted(again->body));
  return 0;
}
