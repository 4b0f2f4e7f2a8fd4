#include "frame/record/entry.h"

#include "base/text/wire.h"
#include "client/http/http_request.h"

namespace mangrove::frame::record {
namespace {

constexpr std::string_view kMarks = "SBTROEXPqw";

uint64_t folded(int64_t value) {  // small numbers of either sign become small numbers
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t unfolded(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

int64_t ticksOf(MonoTime time) {
  return time.time_since_epoch().count();
}
int64_t ticksOf(WallTime time) {
  return time.time_since_epoch().count();
}

void appendText(std::string_view text, std::string& out) {
  appendVarint(text.size(), out);
  out.append(text);
}

void appendError(const Error& error, std::string& out) {
  appendVarint(0, out);
  appendVarint(static_cast<uint64_t>(error.code()), out);
  appendVarint(folded(error.detail()), out);
  appendText(error.text(), out);
}

std::optional<uint64_t> takeNumber(std::string_view& in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Behind the zero.
Error errorFrom(WireReader& in) {
  const auto code = in.varint();
  const auto detail = in.varint();
  const auto text = in.bytes();
  if (!code || !detail || !text || *code > static_cast<uint64_t>(Code::kInternal))
    return Error(Code::kInternal, "the recording has an answer that cannot be read");
  return Error(static_cast<Code>(*code), std::string(*text), static_cast<int>(unfolded(*detail)));
}

}  // namespace

bool isDecision(Mark mark) {
  return mark == Mark::kRequest || mark == Mark::kWatch;
}

void EntryPen::write(Mark mark, uint64_t id, Moment at, std::string_view body, std::string& out) {
  out.push_back(static_cast<char>(mark));
  appendVarint(id, out);
  if (mark == Mark::kSession) last_ = {};
  if (!isDecision(mark)) {
    appendVarint(folded(ticksOf(at.mono) - ticksOf(last_.mono)), out);
    appendVarint(folded(ticksOf(at.wall) - ticksOf(last_.wall)), out);
    last_ = at;
  }
  appendText(body, out);
}

std::optional<Entry> takeEntry(std::string_view& rest, Moment& last) {
  std::string_view in = rest;
  if (in.empty() || kMarks.find(in.front()) == std::string_view::npos) return std::nullopt;
  Entry out;
  out.mark = static_cast<Mark>(in.front());
  in.remove_prefix(1);
  const auto id = takeNumber(in);
  if (!id) return std::nullopt;
  out.id = *id;
  out.at = out.mark == Mark::kSession ? Moment{} : last;
  if (!isDecision(out.mark)) {
    const auto mono = takeNumber(in), wall = takeNumber(in);
    if (!mono || !wall) return std::nullopt;
    out.at.mono += MonoTime::duration(unfolded(*mono));
    out.at.wall += WallTime::duration(unfolded(*wall));
  }
  const auto size = takeNumber(in);
  if (!size || *size > in.size()) return std::nullopt;
  out.body = std::string(in.substr(0, *size));
  last = out.at;
  rest = in.substr(*size);
  return out;
}

std::string textOf(const Result<client::Reply>& reply) {
  std::string out;
  if (!reply) {
    appendError(reply.error(), out);
    return out;
  }
  out.reserve(reply->body.size() + 32);
  appendVarint(1, out);
  appendVarint(static_cast<uint64_t>(reply->status), out);
  appendVarint(static_cast<uint64_t>(reply->tries), out);
  appendVarint(reply->warnings.size(), out);
  for (const std::string& warning : reply->warnings) appendText(warning, out);
  appendText(reply->body, out);
  return out;
}

Result<client::Reply> replyFrom(std::string_view text) {
  WireReader in(text);
  const auto good = in.varint();
  if (!good || *good == 0) return Failure(errorFrom(in));
  client::Reply out;
  out.status = static_cast<int>(in.varint().value_or(0));
  out.tries = static_cast<int>(in.varint().value_or(0));
  for (uint64_t left = in.varint().value_or(0); left > 0; left--) {
    const auto warning = in.bytes();
    if (!warning) break;
    out.warnings.emplace_back(*warning);
  }
  const auto body = in.bytes();
  if (!body) return fail(Code::kInternal, "the recording has an answer that cannot be read");
  out.body = std::string(*body);
  return out;
}

std::string textOf(const Result<>& outcome) {
  std::string out;
  if (outcome)
    appendVarint(1, out);
  else
    appendError(outcome.error(), out);
  return out;
}

Result<> outcomeFrom(std::string_view text) {
  WireReader in(text);
  const auto good = in.varint();
  if (!good || *good == 0) return Failure(errorFrom(in));
  return {};
}

Error flattened(const Error& error) {
  return Error(error.code(), error.text(), error.detail());
}

std::string textOf(const client::Request& request) {
  const net::HttpRequest http = client::toHttp(request);
  std::string out = http.method + " " + http.target + "\n";
  if (request.verb == client::Verb::kPatch) out += client::contentTypeOf(request.patchType);
  return out + "\n" + request.body;
}

std::string textOf(const client::WatchRequest& request) {
  return "WATCH " + client::toHttp(request).target + "\n\n";
}

}  // namespace mangrove::frame::record
