#include "runtime/core/dns_message.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::runtime::dns {
namespace {

constexpr uint16_t kResponse = 0x8000, kAuthoritative = 0x0400, kCut = 0x0200,
                   kRecursionDesired = 0x0100, kRecursionAvailable = 0x0080;
constexpr uint16_t kInternet = 1, kTypeOpt = 41;
constexpr size_t kHead = 12, kMostJumps = 16, kMostRoom = 4096;

void put16(std::string& out, uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 0xff);
}
void put32(std::string& out, uint32_t value) {
  put16(out, static_cast<uint16_t>(value >> 16));
  put16(out, static_cast<uint16_t>(value & 0xffff));
}
void putName(std::string& out, std::string_view name) {
  for (std::string_view label : split(name, '.')) {
    if (label.empty()) continue;
    label = label.substr(0, 63);
    out += static_cast<char>(label.size());
    out += label;
  }
  out += '\0';
}

// Walks over a datagram; after the first fault everything reads as 0 and ok() is false.
class Walk {
 public:
  Walk(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}
  bool ok() const { return ok_; }
  size_t at() const { return at_; }
  uint8_t u8() {
    if (at_ >= bytes_.size()) return ok_ = false, 0;
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  uint16_t u16() {
    const uint16_t high = u8();
    return static_cast<uint16_t>(high << 8 | u8());
  }
  uint32_t u32() {
    const uint32_t high = u16();
    return high << 16 | u16();
  }
  std::string_view take(size_t count) {
    if (count > bytes_.size() - std::min(at_, bytes_.size()))
      return ok_ = false, std::string_view();
    const std::string_view out = bytes_.substr(at_, count);
    at_ += count;
    return out;
  }
  // Follows pointers, which may lead only so often: a circle is no name.
  std::string name() {
    std::string out;
    size_t jumps = 0, back = 0;
    for (uint8_t length = u8(); ok_ && length != 0; length = u8()) {
      if ((length & 0xc0) == 0xc0) {
        const size_t to = static_cast<size_t>(length & 0x3f) << 8 | u8();
        if (back == 0) back = at_;
        if (++jumps > kMostJumps) ok_ = false;
        at_ = to;
        continue;
      }
      if (length > 63 || out.size() > 255) ok_ = false;
      const std::string_view label = take(length);
      if (!out.empty()) out += '.';
      for (char c : label) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (back != 0) at_ = back;
    return out;
  }

 private:
  std::string_view bytes_;
  size_t at_;
  bool ok_ = true;
};

struct Head {
  uint16_t id, flags, questions, answers, authorities, extras;
};
Head readHead(Walk& walk) {
  Head head{};
  for (uint16_t* field :
       {&head.id, &head.flags, &head.questions, &head.answers, &head.authorities, &head.extras})
    *field = walk.u16();
  return head;
}

// The size in an OPT record behind the question; others may stand there too.
size_t roomIn(Walk& walk, const Head& head) {
  for (int left = head.answers + head.authorities + head.extras; left > 0 && walk.ok(); --left) {
    walk.name();
    const uint16_t type = walk.u16(), size = walk.u16();
    walk.u32();
    walk.take(walk.u16());
    if (walk.ok() && type == kTypeOpt) return std::clamp<size_t>(size, 512, kMostRoom);
  }
  return 512;
}

std::string dataOf(const Record& record) {
  std::string out;
  if (record.type == kTypeA) {
    char bytes[4] = {};
    if (::inet_pton(AF_INET, record.data.c_str(), bytes) == 1) out.assign(bytes, sizeof bytes);
  } else if (record.type == kTypeAaaa) {
    char bytes[16] = {};
    if (::inet_pton(AF_INET6, record.data.c_str(), bytes) == 1) out.assign(bytes, sizeof bytes);
  } else if (record.type == kTypeSrv) {
    const auto words = split(record.data, ' ');
    for (size_t i = 0; i + 1 < words.size(); ++i)
      put16(out, parseInt<uint16_t>(words[i]).value_or(0));
    putName(out, words.back());
  } else {
    putName(out, record.data);
  }
  return out;
}

std::string textOf(Walk& walk, uint16_t type, uint16_t length) {
  if (type == kTypeCname || type == kTypePtr) return walk.name();
  const std::string_view bytes = walk.take(length);
  char text[INET6_ADDRSTRLEN] = {};
  if (type == kTypeA && bytes.size() == 4) ::inet_ntop(AF_INET, bytes.data(), text, sizeof text);
  if (type == kTypeAaaa && bytes.size() == 16)
    ::inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

void putQuestion(std::string& out, const Question& question) {
  putName(out, question.name);
  put16(out, question.type);
  put16(out, kInternet);
}

void putRecord(std::string& out, const Record& record) {
  putName(out, record.name);
  put16(out, record.type);
  put16(out, kInternet);
  put32(out, record.seconds);
  const std::string data = dataOf(record);
  put16(out, static_cast<uint16_t>(data.size()));
  out += data;
}

}  // namespace

Result<Question> readQuestion(std::string_view datagram) {
  Walk walk(datagram, 0);
  const Head head = readHead(walk);
  if (!walk.ok() || (head.flags & kResponse) != 0 || (head.flags & 0x7800) != 0 ||
      head.questions != 1)
    return invalid("a datagram of {} bytes is no question", datagram.size());
  Question out;
  out.id = head.id;
  out.recursionDesired = (head.flags & kRecursionDesired) != 0;
  out.name = walk.name();
  out.type = walk.u16();
  walk.u16();
  if (!walk.ok())
    return invalid("a datagram of {} bytes ends within its question", datagram.size());
  out.room = roomIn(walk, head);
  return out;
}

std::string writeQuestion(const Question& question) {
  std::string out;
  put16(out, question.id);
  put16(out, question.recursionDesired ? kRecursionDesired : 0);
  for (uint16_t count : {1, 0, 0, 0}) put16(out, count);
  putQuestion(out, question);
  return out;
}

std::string writeAnswer(const Question& question, const Reply& reply) {
  std::string body;
  putQuestion(body, question);
  uint16_t count = 0;
  bool cut = false;
  for (const Record& record : reply.records) {
    std::string one;
    putRecord(one, record);
    cut = kHead + body.size() + one.size() > question.room;
    if (cut) break;
    body += one;
    ++count;
  }
  uint16_t flags = kResponse | kRecursionAvailable | static_cast<uint16_t>(reply.code);
  if (reply.authoritative) flags |= kAuthoritative;
  if (question.recursionDesired) flags |= kRecursionDesired;
  if (cut) flags |= kCut;
  std::string out;
  put16(out, question.id);
  put16(out, flags);
  for (uint16_t number : {uint16_t{1}, count, uint16_t{0}, uint16_t{0}}) put16(out, number);
  return out + body;
}

Result<Reply> readAnswer(std::string_view datagram) {
  Walk walk(datagram, 0);
  const Head head = readHead(walk);
  if (!walk.ok() || (head.flags & kResponse) == 0) return invalid("a datagram is no answer");
  for (int i = 0; i < head.questions; ++i) {
    walk.name();
    walk.u32();
  }
  Reply out;
  out.code = static_cast<Code>(head.flags & 0xf);
  out.authoritative = false;
  for (int i = 0; i < head.answers && walk.ok(); ++i) {
    Record one;
    one.name = walk.name();
    one.type = walk.u16();
    walk.u16();
    one.seconds = walk.u32();
    one.data = textOf(walk, one.type, walk.u16());
    const bool known = one.type == kTypeA || one.type == kTypeAaaa || one.type == kTypeCname;
    if (walk.ok() && known) out.records.push_back(std::move(one));
  }
  if (!walk.ok()) return invalid("an answer of {} bytes ends within a record", datagram.size());
  return out;
}

}  // namespace mangrove::runtime::dns
