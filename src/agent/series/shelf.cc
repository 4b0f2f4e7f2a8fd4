#include "agent/series/shelf.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace mangrove::agent {
namespace {

constexpr char kMagic[8] = {'M', 'G', 'V', 'S', 'E', 'R', '0', '1'};
constexpr uint32_t kFirstTracks = 4;
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

}  // namespace

struct Shelf::Header {
  char magic[8];
  uint32_t slots;
  uint32_t columns;
  uint32_t tracks;  // room for so many
  uint32_t reserved;
  uint64_t next;  // number of the slot after the last one begun
  char bootId[40];
};

struct Shelf::Head {
  uint64_t written;  // one more than the slot written last; 0: never
  uint64_t begun;    // the first slot that may hold a value
  uint8_t used;
  uint8_t length;
  char subject[Shelf::kMaxSubject + 3];
};

Shelf::Header& Shelf::header() const {
  return *static_cast<Header*>(base_);
}
int64_t* Shelf::times() const {
  return reinterpret_cast<int64_t*>(static_cast<char*>(base_) + sizeof(Header));
}
size_t Shelf::trackBytes() const {
  return sizeof(Head) + size_t{shape_.columns} * shape_.slots * sizeof(double);
}
size_t Shelf::sizeFor(uint32_t tracks) const {
  return sizeof(Header) + size_t{shape_.slots} * sizeof(int64_t) + tracks * trackBytes();
}
Shelf::Head& Shelf::head(Id id) const {
  return *reinterpret_cast<Head*>(static_cast<char*>(base_) + sizeFor(id));
}
double* Shelf::column(Id id, uint32_t column) const {
  auto* values = reinterpret_cast<double*>(reinterpret_cast<char*>(&head(id)) + sizeof(Head));
  return values + size_t{column} * shape_.slots;
}

Shelf::Shelf(Shelf&& other) noexcept : shape_(other.shape_) {
  *this = std::move(other);
}

Shelf& Shelf::operator=(Shelf&& other) noexcept {
  if (this == &other) return *this;
  release();
  shape_ = other.shape_;
  fd_ = std::exchange(other.fd_, -1);
  base_ = std::exchange(other.base_, nullptr);
  mapped_ = std::exchange(other.mapped_, 0);
  restored_ = other.restored_;
  index_ = std::move(other.index_);
  free_ = std::move(other.free_);
  scratch_ = std::move(other.scratch_);
  return *this;
}

Shelf::~Shelf() {
  release();
}

void Shelf::release() {
  if (base_ != nullptr) ::munmap(base_, mapped_);
  if (fd_ >= 0) ::close(fd_);
  base_ = nullptr;
  fd_ = -1;
}

Result<Shelf> Shelf::open(const std::string& path, ShelfShape shape, std::string_view bootId,
                          MonoTime now) {
  CHECK(shape.slots > 0 && shape.columns > 0);
  Shelf shelf(shape);
  if (auto ok = shelf.map(path); !ok) return ok.error().in("history {}", path);
  if (shelf.fits(bootId, now))
    shelf.restored_ = true;
  else
    shelf.format(bootId);
  shelf.rebuildIndex();
  return shelf;
}

Result<> Shelf::map(const std::string& path) {
  size_t size = sizeFor(kFirstTracks);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (!path.empty()) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0) return failErrno(errno, "open");
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return failErrno(errno, "stat");
    size = std::max(size, static_cast<size_t>(info.st_size));
    // posix_fallocate, not ftruncate: a full disk must fail here and not kill us on a write.
    if (const int error = ::posix_fallocate(fd_, 0, static_cast<off_t>(size)); error != 0)
      return failErrno(error, "reserve space");
    flags = MAP_SHARED;
  }
  void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd_, 0);
  if (base == MAP_FAILED) return failErrno(errno, "map");
  base_ = base;
  mapped_ = size;
  return {};
}

bool Shelf::fits(std::string_view bootId, MonoTime now) const {
  const Header& h = header();
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0) return false;
  if (h.slots != shape_.slots || h.columns != shape_.columns) return false;
  if (h.tracks < kFirstTracks || h.tracks > (mapped_ / trackBytes())) return false;
  if (mapped_ < sizeFor(h.tracks)) return false;
  if (std::string_view(h.bootId, ::strnlen(h.bootId, sizeof h.bootId)) !=
      bootId.substr(0, sizeof h.bootId))
    return false;
  if (h.next == 0) return true;
  // Times must ascend and lie in the past, or they are of another clock.
  const uint64_t oldest = h.next > shape_.slots ? h.next - shape_.slots : 0;
  int64_t before = std::numeric_limits<int64_t>::min();
  for (uint64_t slot = oldest; slot < h.next; ++slot) {
    const int64_t at = times()[slot % shape_.slots];
    if (at <= before || at > now.time_since_epoch().count()) return false;
    before = at;
  }
  return true;
}

void Shelf::format(std::string_view bootId) {
  const uint32_t tracks = static_cast<uint32_t>((mapped_ - sizeFor(0)) / trackBytes());
  std::memset(base_, 0, sizeFor(0));
  Header& h = header();
  h.slots = shape_.slots;
  h.columns = shape_.columns;
  h.tracks = tracks;
  std::memcpy(h.bootId, bootId.data(), std::min(bootId.size(), sizeof h.bootId));
  for (Id id = 0; id < tracks; ++id) std::memset(&head(id), 0, sizeof(Head));
  // Last, so that a crash in between leaves a file that is not believed.
  std::memcpy(h.magic, kMagic, sizeof kMagic);
}

void Shelf::rebuildIndex() {
  for (Id id = header().tracks; id-- > 0;) {
    Head& h = head(id);
    const bool sane = h.used == 1 && h.length > 0 && h.length <= kMaxSubject &&
                      h.written <= header().next && h.begun <= h.written;
    const std::string subject = sane ? std::string(h.subject, h.length) : std::string();
    if (sane && index_.emplace(subject, id).second) continue;
    h.used = 0;
    free_.push_back(id);
  }
}

Result<> Shelf::detach() {
  void* base = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return failErrno(errno, "memory for history");
  std::memcpy(base, base_, mapped_);
  ::munmap(base_, mapped_);
  ::close(std::exchange(fd_, -1));
  base_ = base;
  return {};
}

Result<> Shelf::resize(uint32_t tracks) {
  const size_t size = sizeFor(tracks);
  if (fd_ >= 0 && ::posix_fallocate(fd_, 0, static_cast<off_t>(size)) != 0)
    if (auto ok = detach(); !ok) return ok;
  void* base = ::mremap(base_, mapped_, size, MREMAP_MAYMOVE);
  if (base == MAP_FAILED) return failErrno(errno, "map more history");
  base_ = base;
  mapped_ = size;
  for (Id id = tracks; id-- > header().tracks;) {
    std::memset(&head(id), 0, sizeof(Head));
    free_.push_back(id);
  }
  header().tracks = tracks;
  return {};
}

Shelf::Id Shelf::track(std::string_view subject) {
  subject = subject.substr(0, kMaxSubject);
  if (auto known = find(subject)) return *known;
  if (free_.empty()) {
    // By a quarter: doubling would keep half of the room empty for good.
    const uint32_t tracks = header().tracks + std::max(kFirstTracks, header().tracks / 4);
    auto grown = resize(tracks);
    CHECK(grown, "{}", grown.error().text());
  }
  const Id id = free_.back();
  free_.pop_back();
  Head& h = head(id);
  h.written = h.begun = 0;
  h.length = static_cast<uint8_t>(subject.size());
  std::memcpy(h.subject, subject.data(), subject.size());
  h.used = 1;
  index_.emplace(subject, id);
  return id;
}

std::optional<Shelf::Id> Shelf::find(std::string_view subject) const {
  auto it = index_.find(subject.substr(0, kMaxSubject));
  return it == index_.end() ? std::nullopt : std::optional(it->second);
}

void Shelf::drop(std::string_view subject) {
  auto it = index_.find(subject.substr(0, kMaxSubject));
  if (it == index_.end()) return;
  head(it->second).used = 0;
  free_.push_back(it->second);
  index_.erase(it);
}

std::vector<std::string> Shelf::subjects() const {
  std::vector<std::string> out;
  for (const auto& [subject, id] : index_) out.push_back(subject);
  return out;
}

void Shelf::forget() {
  for (const auto& [subject, id] : index_) head(id).written = head(id).begun = 0;
}

bool Shelf::begin(MonoTime at) {
  Header& h = header();
  const int64_t ns = at.time_since_epoch().count();
  if (h.next > 0 && ns <= times()[(h.next - 1) % shape_.slots]) return false;
  times()[h.next % shape_.slots] = ns;
  ++h.next;
  return true;
}

// Marks every column of the slots since the track was last written as absent, up to and with
// `slot`.
void Shelf::blank(Id id, uint64_t slot) {
  Head& h = head(id);
  if (h.written == 0) h.written = h.begun = slot;
  const uint64_t from = slot - std::min<uint64_t>(slot - h.written, shape_.slots - 1);
  for (uint32_t c = 0; c < shape_.columns; ++c) {
    double* values = column(id, c);
    for (uint64_t s = from; s <= slot; ++s) values[s % shape_.slots] = kAbsent;
  }
  h.written = slot + 1;
}

void Shelf::put(Id id, uint32_t column, double value) {
  CHECK(column < shape_.columns && header().next > 0);
  const uint64_t slot = header().next - 1;
  if (head(id).written != slot + 1) blank(id, slot);
  this->column(id, column)[slot % shape_.slots] = value;
}

Shelf::Range Shelf::slotsBetween(MonoTime from, MonoTime to) const {
  const uint64_t next = header().next;
  const uint64_t oldest = next > shape_.slots ? next - shape_.slots : 0;
  const auto firstWhere = [&](auto past) {
    uint64_t low = oldest, high = next;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (past(times()[middle % shape_.slots]))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  const int64_t a = from.time_since_epoch().count(), b = to.time_since_epoch().count();
  return {firstWhere([&](int64_t t) { return t >= a; }),
          firstWhere([&](int64_t t) { return t > b; })};
}

Shelf::Window Shelf::window(Id id, uint32_t column, MonoTime from, MonoTime to) const {
  const Head& h = head(id);
  Range range = slotsBetween(from, to);
  range.begin = std::max(range.begin, h.begun);
  range.end = std::min(range.end, h.written);
  scratch_.clear();
  Window window;
  const double* values = this->column(id, column);
  for (uint64_t slot = range.begin; slot < range.end; ++slot) {
    const double value = values[slot % shape_.slots];
    if (std::isnan(value)) continue;
    const MonoTime at{Duration(times()[slot % shape_.slots])};
    if (scratch_.empty()) window.first = at;
    window.last = at;
    scratch_.push_back(value);
  }
  window.values = scratch_;
  return window;
}

std::optional<stats::Aggregate> Shelf::aggregate(Id id, uint32_t column, MonoTime from, MonoTime to,
                                                 stats::PercentileRule rule) const {
  return stats::aggregate(window(id, column, from, to).values, rule);
}

std::optional<double> Shelf::average(Id id, uint32_t column, MonoTime from, MonoTime to) const {
  return stats::average(window(id, column, from, to).values);
}

std::optional<double> Shelf::last(Id id, uint32_t column) const {
  const Head& h = head(id);
  if (h.written == 0 || h.written != header().next) return std::nullopt;
  const double value = this->column(id, column)[(h.written - 1) % shape_.slots];
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

std::optional<MonoTime> Shelf::newest() const {
  if (header().next == 0) return std::nullopt;
  return MonoTime(Duration(times()[(header().next - 1) % shape_.slots]));
}

}  // namespace mangrove::agent
