#pragma once
// The two layers below NRI's calls: frames that carry several connections over one socket, and
// ttrpc's requests and answers within each. Pure; one owner.
//
//   std::string bytes =
//       carry(kRuntimeConnection, ttrpcRequest(1, "…Runtime", "RegisterPlugin", p));
//   FrameReader in;
//   Result<std::vector<Call>> calls = in.feed(received);

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::agent {

inline constexpr uint32_t kPluginConnection = 1;   // the runtime asks
inline constexpr uint32_t kRuntimeConnection = 2;  // the plugin asks

// One ttrpc message.
struct Call {
  enum class Kind : uint8_t { kRequest = 1, kResponse = 2, kData = 3 };
  uint32_t connection = 0;
  uint32_t stream = 0;
  Kind kind = Kind::kRequest;
  std::string service, method;  // of requests
  std::string payload;
  int32_t status = 0;   // of responses; 0 is fine
  std::string message;  // … and what was wrong
};

std::string ttrpcRequest(uint32_t stream, std::string_view service, std::string_view method,
                         std::string_view payload);
std::string ttrpcResponse(uint32_t stream, std::string_view payload);
std::string ttrpcRefusal(uint32_t stream, int32_t status, std::string_view message);
// In frames of at most 4 KiB: the other side reads each into a buffer of that size.
std::string carry(uint32_t connection, std::string_view message);

class FrameReader {
 public:
  static constexpr size_t kMaxMessage = 4 << 20;

  // What is whole now. An error: the other side speaks something else; drop the connection.
  Result<std::vector<Call>> feed(std::string_view bytes);

 private:
  Result<> split();
  Result<bool> nextCall(uint32_t connection, std::string& from, std::vector<Call>& out);

  std::string trunk_;
  std::map<uint32_t, std::string> connections_;
};

}  // namespace mangrove::agent
