// The byte form of a sketch: version, accuracy, limit, zeros, sum, min, max, lowest index, number
// of buckets, then the counts. Integers are varints; an empty bucket is 0 followed by how many more
// follow.
#include <bit>
#include <cmath>
#include <cstring>

#include "stats/sketch.h"

namespace mangrove::stats {
namespace {

constexpr char kVersion = 1;
constexpr uint64_t kMostBuckets = 1 << 20;
// Indexes reach ±35 500 at 1 % accuracy and grow as accuracy does; beyond this bytes are not ours.
constexpr int64_t kIndexLimit = 1 << 30;

void putVarint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
  out.push_back(static_cast<char>(v));
}

void putDouble(std::string& out, double v) {
  auto bits = std::bit_cast<uint64_t>(v);
  for (int i = 0; i < 8; ++i, bits >>= 8) out.push_back(static_cast<char>(bits & 0xff));
}

uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}

// Reads values one after the other; after the first failure everything reads as 0 and ok() is
// false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = next();
      v |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    ok_ = false;
    return 0;
  }

  double real() {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i += 8) bits |= uint64_t(next()) << i;
    return std::bit_cast<double>(bits);
  }

  uint8_t next() {
    if (bytes_.empty()) ok_ = false;
    if (!ok_) return 0;
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

  bool ok() const { return ok_; }
  bool atEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void putCounts(std::string& out, const std::vector<uint64_t>& counts) {
  putVarint(out, counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    putVarint(out, counts[i]);
    if (counts[i] > 0) continue;
    size_t more = 0;
    while (i + 1 < counts.size() && counts[i + 1] == 0) ++more, ++i;
    putVarint(out, more);
  }
}

bool readCounts(Reader& in, uint64_t limit, std::vector<uint64_t>& counts) {
  const uint64_t size = in.varint();
  if (!in.ok() || size > limit) return false;
  counts.reserve(size);
  while (in.ok() && counts.size() < size) {
    counts.push_back(in.varint());
    const uint64_t more = counts.back() == 0 ? in.varint() : 0;
    if (more > size - counts.size()) return false;
    counts.insert(counts.end(), more, 0);
  }
  return in.ok() && (counts.empty() || (counts.front() > 0 && counts.back() > 0));
}

bool addsUp(uint64_t zeros, const std::vector<uint64_t>& counts, uint64_t& total) {
  total = zeros;
  for (uint64_t c : counts)
    if (__builtin_add_overflow(total, c, &total)) return false;
  return true;
}

}  // namespace

std::string Sketch::encode() const {
  std::string out(1, kVersion);
  putDouble(out, accuracy_);
  putVarint(out, maxBuckets_);
  putVarint(out, zeros_);
  for (double v : {sum_, min_, max_}) putDouble(out, v);
  putVarint(out, zigzag(lowest_));
  putCounts(out, counts_);
  return out;
}

Result<Sketch> Sketch::decode(std::string_view bytes) {
  Reader in(bytes);
  if (const int version = in.next(); version != kVersion)
    return invalid("sketch of version {}: want version {}", version, int{kVersion});
  const double accuracy = in.real();
  const uint64_t maxBuckets = in.varint();
  if (!in.ok() || !(accuracy > 0 && accuracy < 1) || maxBuckets == 0 || maxBuckets > kMostBuckets)
    return invalid(
        "sketch of accuracy {} and {} buckets: want 0 < accuracy < 1 and 1 to {} buckets", accuracy,
        maxBuckets, kMostBuckets);
  Sketch sketch(accuracy, maxBuckets);
  sketch.zeros_ = in.varint();
  sketch.sum_ = in.real();
  sketch.min_ = in.real();
  sketch.max_ = in.real();
  const uint64_t folded = in.varint();
  const auto lowest = static_cast<int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
  const bool counted = readCounts(in, maxBuckets, sketch.counts_) &&
                       addsUp(sketch.zeros_, sketch.counts_, sketch.count_);
  if (!counted || !in.atEnd() || std::abs(lowest) > kIndexLimit || !(sketch.min_ <= sketch.max_))
    return invalid("sketch of {} bytes: cut short, overlong or contradicting itself", bytes.size());
  sketch.lowest_ = static_cast<int32_t>(lowest);
  return sketch;
}

}  // namespace mangrove::stats
