#include "agent/almanac/store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "base/number/fnv.h"
#include "base/os/fd.h"
#include "base/os/files.h"

namespace mangrove::agent {
namespace {

constexpr const char* kBlocks = "almanac.dat";
constexpr const char* kNow = "now.log";
constexpr char kMagic = '\x1b';
constexpr int64_t kDay = 24 * 60;

void putNumber(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t numberAt(std::string_view in, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(in[at + i])) << (8 * i);
  return value;
}

// magic, size, payload, checksum
std::string record(const std::string& payload) {
  std::string out(1, kMagic);
  putNumber(out, payload.size(), 3);
  out += payload;
  putNumber(out, fnv1a(payload), 4);
  return out;
}

// The whole records of a text and where their payloads begin; a wrong byte costs the record it is in.
template <class F>
void eachRecord(std::string_view text, F visit) {
  for (size_t at = 0; at + 8 <= text.size();) {
    const size_t size = text[at] == kMagic ? numberAt(text, at + 1, 3) : std::string_view::npos;
    const bool fits = size != std::string_view::npos && at + 8 + size <= text.size();
    const std::string_view payload = fits ? text.substr(at + 4, size) : std::string_view();
    if (!fits || numberAt(text, at + 4 + size, 4) != (fnv1a(payload) & 0xffffffff)) {
      ++at;
      continue;
    }
    visit(payload, at + 4);
    at += 8 + size;
  }
}

// Fields of a payload, in order; after the end everything is empty and `ok` false.
struct Fields {
  std::string_view rest;
  bool ok = true;
  std::string_view take(size_t size) {
    if (size > rest.size()) return ok = false, std::string_view();
    const std::string_view out = rest.substr(0, size);
    rest.remove_prefix(size);
    return out;
  }
  uint64_t number(size_t bytes) {
    const std::string_view text = take(bytes);
    return text.empty() ? 0 : numberAt(text, 0, bytes);
  }
};

std::string payloadOf(const Block& block) {
  std::string out(1, static_cast<char>(block.level));
  putNumber(out, static_cast<uint64_t>(block.start), 4);
  putNumber(out, std::min<size_t>(block.subject.size(), 255), 1);
  out += block.subject.substr(0, 255);
  return out + encodeCells(block.cells);
}

std::optional<BlockHead> headOf(Fields& in) {
  BlockHead out;
  const uint64_t level = in.number(1);
  out.level = static_cast<Level>(level);
  out.start = static_cast<int64_t>(in.number(4));
  out.subject = in.take(in.number(1));
  if (!in.ok || level > static_cast<uint64_t>(Level::kDays)) return std::nullopt;
  return out;
}

// Nothing where the disk no longer has what was there.
std::optional<Cells> cellsAt(const UniqueFd& fd, size_t offset, size_t size, Level level) {
  std::string bytes(size + 4, '\0');
  const ssize_t got =
      fd ? ::pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)) : -1;
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  const std::string_view payload = std::string_view(bytes).substr(0, size);
  if (numberAt(bytes, size, 4) != (fnv1a(payload) & 0xffffffff)) return std::nullopt;
  Fields in{payload};
  if (!headOf(in)) return std::nullopt;
  auto cells = decodeCells(in.rest, shapeOf(level).cells);
  return cells ? std::optional(*std::move(cells)) : std::nullopt;
}

double weightOf(const Block& block) {
  const auto cell = merge(block.cells);
  return cell ? cell->cpu.mean + cell->memory.mean / 4 : 0;  // 4 GiB weigh as much as a core
}

}  // namespace

LevelShape shapeOf(Level level) {
  if (level == Level::kMinutes) return {1, 60, 15 * kDay};
  if (level == Level::kHours) return {60, 24, 92 * kDay};
  return {kDay, 32, 2 * 366 * kDay};
}

AlmanacStore::AlmanacStore(std::string dir) : dir_(std::move(dir)) {}

Result<> AlmanacStore::append(const char* name, const std::string& bytes, bool sync) const {
  std::error_code error;
  std::filesystem::create_directories(dir_, error);
  UniqueFd fd(::open(file(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return failErrno(errno, "open " + file(name));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t done = ::write(fd.get(), bytes.data() + at, bytes.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failErrno(errno, "write " + file(name));
    at += static_cast<size_t>(done);
  }
  if (sync && ::fsync(fd.get()) != 0) return failErrno(errno, "flush " + file(name));
  return {};
}

Result<> AlmanacStore::keepMinute(int64_t minute, const MinuteCells& cells) const {
  std::string payload;
  putNumber(payload, static_cast<uint64_t>(minute), 4);
  for (const auto& [subject, cell] : cells) {
    const std::string bytes = encodeCells({cell});
    putNumber(payload, std::min<size_t>(subject.size(), 255), 1);
    payload += subject.substr(0, 255);
    putNumber(payload, bytes.size(), 1);
    payload += bytes;
  }
  return append(kNow, record(payload), false);
}

std::map<int64_t, MinuteCells> AlmanacStore::recent() const {
  std::map<int64_t, MinuteCells> out;
  const auto text = readFile(file(kNow));
  if (!text) return out;
  eachRecord(*text, [&](std::string_view payload, size_t) {
    Fields in{payload};
    MinuteCells& cells = out[static_cast<int64_t>(in.number(4))];
    while (in.ok && !in.rest.empty()) {
      const std::string subject(in.take(in.number(1)));
      const auto cell = decodeCells(in.take(in.number(1)), 1);
      if (in.ok && cell && cell->front()) cells[subject] = *cell->front();
    }
  });
  return out;
}

Result<> AlmanacStore::keepBlocks(const std::vector<Block>& blocks) const {
  std::string bytes;
  for (const Block& block : blocks) bytes += record(payloadOf(block));
  std::error_code none;
  const auto before = std::filesystem::file_size(file(kBlocks), none);
  if (auto ok = append(kBlocks, bytes, true); !ok) {
    index_.reset();  // a part of it may be there
    return ok;
  }
  if (index_) note(*index_, bytes, none ? 0 : before);
  // After the blocks are safe; a crash in between keeps the minutes twice, and blocks go first.
  std::error_code error;
  std::filesystem::remove(file(kNow), error);
  return {};
}

void AlmanacStore::note(Index& index, std::string_view text, size_t offset) {
  eachRecord(text, [&](std::string_view payload, size_t at) {
    Fields in{payload};
    const auto head = headOf(in);
    if (!head) return;
    const auto next = static_cast<uint16_t>(index.subjects.size());
    auto found = index.numbers.find(head->subject);
    if (found == index.numbers.end()) {
      if (index.subjects.size() > UINT16_MAX - 1) return;
      found = index.numbers.emplace(head->subject, next).first;
      index.subjects.emplace_back(head->subject);
    }
    index.places.push_back({static_cast<uint32_t>(offset + at),
                            static_cast<uint32_t>(payload.size()),
                            static_cast<uint32_t>(head->start), found->second, head->level});
  });
}

const AlmanacStore::Index& AlmanacStore::index() const {
  if (index_) return *index_;
  index_.emplace();
  if (const auto text = readFile(file(kBlocks))) note(*index_, *text, 0);
  return *index_;
}

std::vector<Block> AlmanacStore::read(const Wants& wants) const {
  std::vector<Block> out;
  const Index& all = index();
  UniqueFd fd;
  for (const Place& place : all.places) {
    const BlockHead head{place.level, place.start, all.subjects[place.subject]};
    if (wants && !wants(head)) continue;
    if (!fd) fd = UniqueFd(::open(file(kBlocks).c_str(), O_RDONLY | O_CLOEXEC));
    auto cells = cellsAt(fd, place.offset, place.size, head.level);
    if (cells)
      out.push_back({head.level, head.start, std::string(head.subject), *std::move(cells)});
  }
  return out;
}

Result<> AlmanacStore::compact(int64_t minute, size_t budget) const {
  std::vector<Block> blocks = read([&](const BlockHead& one) {
    const LevelShape shape = shapeOf(one.level);
    return one.start + shape.minutes * static_cast<int64_t>(shape.cells) + shape.kept > minute;
  });
  std::map<std::string, double> weight;
  for (const Block& one : blocks)
    if (one.level != Level::kDays) weight[one.subject] += weightOf(one);
  // The first to go stand first: minutes of small workloads, old before new.
  std::stable_sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) {
    if (a.level != b.level) return a.level < b.level;
    const double wa = weight[a.subject], wb = weight[b.subject];
    return wa != wb ? wa < wb : a.start < b.start;
  });
  std::vector<std::string> records;
  size_t size = 0;
  for (const Block& one : blocks) size += records.emplace_back(record(payloadOf(one))).size();
  size_t gone = 0;
  while (gone < records.size() && size > budget) size -= records[gone++].size();
  std::string text;
  for (size_t i = gone; i < records.size(); ++i) text += records[i];
  index_.reset();
  return writeFileAtomically(file(kBlocks), text);
}

size_t AlmanacStore::bytes() const {
  size_t sum = 0;
  for (const char* name : {kBlocks, kNow}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file(name), error);
    if (!error) sum += size;
  }
  return sum;
}

}  // namespace mangrove::agent
