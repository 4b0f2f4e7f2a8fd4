#include "client/testing/fake_stream.h"

namespace mangrove::client::testing {

namespace {

std::string chunk(std::string_view data) {
  return fmt::format("{:x}\r\n{}\r\n", data.size(), data);
}

std::string damaged(std::string line, Rng& rng) {
  switch (rng.below(3)) {
    case 0:
      return line.substr(0, line.size() / 2);  // the end is missing
    case 1:
      line[line.size() / 3] = '\x01';
      return line;  // not JSON any more
    default:
      return line.substr(line.size() / 3);  // the beginning is missing
  }
}

}  // namespace

std::string FaultCounts::text() const {
  return fmt::format(
      "{} drops, {} duplicates, {} reorders, {} garbled, {} half-open, {} slow, {} expired, {} "
      "5xx, {} "
      "429, {} refused versions, {} expired pages, {} cut bodies",
      dropped, duplicated, reordered, garbled, silenced, slowed, expired, errors, throttled,
      refused, pagesExpired, cut);
}

bool FakeStream::dead() const {
  return closed_ || *gone_;
}

void FakeStream::write(std::string_view line) {
  if (silent_ || closed_) return;
  raw_->write(chunk(std::string(line) + "\n"), [gone = gone_](Result<> written) {
    if (!written) *gone = true;
  });
}

void FakeStream::writePieces(std::string_view line) {
  constexpr size_t kPiece = 7;
  std::string all = std::string(line) + "\n";
  if (silent_ || closed_) return;
  for (size_t at = 0; at < all.size() && at < 40 * kPiece; at += kPiece)
    raw_->write(chunk(std::string_view(all).substr(at, kPiece)), {});
  if (all.size() > 40 * kPiece) raw_->write(chunk(std::string_view(all).substr(40 * kPiece)), {});
}

void FakeStream::flush() {
  for (const StoredEvent& event : std::exchange(held_, {})) write(eventLine(event));
}

void FakeStream::sendLine(const std::string& line) {
  flush();
  write(line);
}

void FakeStream::send(const StoredEvent& event, const Faults& faults, Rng& rng,
                      FaultCounts& counts) {
  if (silent_ || closed_) return;
  std::string line = eventLine(event);
  if (rng.chance(faults.dropMidEvent)) {
    ++counts.dropped;
    std::string whole = chunk(line + "\n");
    raw_->write(whole.substr(0, 1 + rng.below(whole.size() - 1)), {});
    return drop();
  }
  if (rng.chance(faults.halfOpen)) {
    ++counts.silenced;
    return silence();
  }
  if (rng.chance(faults.expire)) {
    ++counts.expired;
    write("{\"type\":\"ERROR\",\"object\":" +
          statusBody(410, "Expired", "too old resource version") + "}");
    return end();
  }
  if (rng.chance(faults.garble)) {
    ++counts.garbled;
    return write(damaged(line, rng));  // the event itself is lost to this connection
  }
  if (rng.chance(faults.reorder)) {
    ++counts.reordered;
    held_.push_back(event);
    return;
  }
  if (rng.chance(faults.slowBody)) {
    ++counts.slowed;
    writePieces(line);
  } else {
    write(line);
  }
  flush();
  if (rng.chance(faults.duplicate)) {
    ++counts.duplicated;
    write(line);
  }
}

void FakeStream::end() {
  if (closed_) return;
  if (!silent_) {
    flush();
    raw_->write("0\r\n\r\n", {});
    raw_->finish();
  }
  closed_ = true;
}

void FakeStream::drop() {
  if (closed_) return;
  closed_ = true;
  raw_->finish();  // the connection ends without the last chunk
}

void FakeStream::silence() {
  silent_ = true;
}

}  // namespace mangrove::client::testing
