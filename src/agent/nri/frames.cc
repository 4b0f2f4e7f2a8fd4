#include "agent/nri/frames.h"

#include <algorithm>

#include "base/text/proto_wire.h"

namespace mangrove::agent {
namespace {

constexpr size_t kFrameHead = 8;  // connection, length
constexpr size_t kCallHead = 10;  // length, stream, kind, flags
constexpr size_t kChunk = 4096;

void putUint32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

uint32_t uint32At(std::string_view bytes, size_t at) {
  uint32_t out = 0;
  for (size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

std::string call(uint32_t stream, Call::Kind kind, std::string_view body) {
  std::string out;
  putUint32(out, static_cast<uint32_t>(body.size()));
  putUint32(out, stream);
  out.push_back(static_cast<char>(kind));
  out.push_back(0);
  return out.append(body);
}

void readRequest(std::string_view body, Call& out) {
  ProtoReader in(body);
  while (const auto field = in.next()) {
    if (field->number == 1) out.service = field->bytes;
    if (field->number == 2) out.method = field->bytes;
    if (field->number == 3) out.payload = field->bytes;
  }
}

void readStatus(std::string_view body, Call& out) {
  ProtoReader in(body);
  while (const auto field = in.next()) {
    if (field->number == 1) out.status = static_cast<int32_t>(field->value);
    if (field->number == 2) out.message = field->bytes;
  }
}

void readResponse(std::string_view body, Call& out) {
  ProtoReader in(body);
  while (const auto field = in.next()) {
    if (field->number == 1) readStatus(field->bytes, out);
    if (field->number == 2) out.payload = field->bytes;
  }
}

}  // namespace

std::string ttrpcRequest(uint32_t stream, std::string_view service, std::string_view method,
                         std::string_view payload) {
  ProtoWriter body;
  body.text(1, service).text(2, method).text(3, payload);
  return call(stream, Call::Kind::kRequest, body.bytes());
}

std::string ttrpcResponse(uint32_t stream, std::string_view payload) {
  ProtoWriter body;
  body.text(2, payload);
  return call(stream, Call::Kind::kResponse, body.bytes());
}

std::string ttrpcRefusal(uint32_t stream, int32_t status, std::string_view message) {
  ProtoWriter inner, body;
  inner.number(1, status).text(2, message);
  body.message(1, inner.bytes());
  return call(stream, Call::Kind::kResponse, body.bytes());
}

std::string carry(uint32_t connection, std::string_view message) {
  std::string out;
  for (size_t at = 0; at < message.size(); at += kChunk) {
    const std::string_view part = message.substr(at, kChunk);
    putUint32(out, connection);
    putUint32(out, static_cast<uint32_t>(part.size()));
    out.append(part);
  }
  return out;
}

Result<> FrameReader::split() {
  size_t at = 0;
  while (trunk_.size() - at >= kFrameHead) {
    const uint32_t connection = uint32At(trunk_, at);
    const uint32_t size = uint32At(trunk_, at + 4);
    if (size > kMaxMessage + kCallHead)
      return invalid("a frame of {} bytes, want at most {}", size, kMaxMessage + kCallHead);
    if (trunk_.size() - at - kFrameHead < size) break;
    connections_[connection].append(trunk_, at + kFrameHead, size);
    at += kFrameHead + size;
  }
  trunk_.erase(0, at);
  return {};
}

Result<bool> FrameReader::nextCall(uint32_t connection, std::string& from, std::vector<Call>& out) {
  if (from.size() < kCallHead) return false;
  const uint32_t size = uint32At(from, 0);
  if (size > kMaxMessage)
    return invalid("a message of {} bytes, want at most {}", size, kMaxMessage);
  if (from.size() < kCallHead + size) return false;
  Call call;
  call.connection = connection;
  call.stream = uint32At(from, 4);
  call.kind = static_cast<Call::Kind>(from[8]);
  const std::string_view body = std::string_view(from).substr(kCallHead, size);
  if (call.kind == Call::Kind::kRequest)
    readRequest(body, call);
  else if (call.kind == Call::Kind::kResponse)
    readResponse(body, call);
  else
    call.payload = body;
  out.push_back(std::move(call));
  from.erase(0, kCallHead + size);
  return true;
}

Result<std::vector<Call>> FrameReader::feed(std::string_view bytes) {
  trunk_.append(bytes);
  if (auto ok = split(); !ok) return pass(ok.error());
  std::vector<Call> out;
  for (auto& [connection, buffer] : connections_)
    for (;;) {
      auto more = nextCall(connection, buffer, out);
      if (!more) return pass(more.error());
      if (!*more) break;
    }
  return out;
}

}  // namespace mangrove::agent
