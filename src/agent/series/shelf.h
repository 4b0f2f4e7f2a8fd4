#pragma once
// Tracks of numbers over time, all of one length: a track per pod (or node, container, …), a few
// columns each, one value per column and slot. All tracks share the times of the slots. Memory is
// fixed per track and flat in time; the oldest slot is overwritten.
//
// Given a file, the numbers live in it (mapped into memory), so a process that dies loses nothing
// and the next one goes on where it was. Times are the boot's monotonic ones: a file of another
// boot, shape or version is emptied.
//
//   Result<Shelf> pods = Shelf::open("/run/mangrove/agent/pods.series",
//                                    {.slots = 300, .columns = 3}, bootId, clock.mono());
//   Shelf::Id id = pods->track(uid);
//   pods->begin(clock.mono());  pods->put(id, kCpu, cores);
//   auto stats = pods->aggregate(id, kCpu, now - 5min, now);
//
// One owner, no locks.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "stats/percentile.h"

namespace mangrove::agent {

struct ShelfShape {
  uint32_t slots = 300;
  uint32_t columns = 1;
};

class Shelf {
 public:
  using Id = uint32_t;
  static constexpr size_t kMaxSubject = 103;  // longer names are cut; uids and ids are shorter

  // path "": memory only. An unusable file is an error; the caller may go on without one.
  static Result<Shelf> open(const std::string& path, ShelfShape shape, std::string_view bootId,
                            MonoTime now);
  Shelf(Shelf&& other) noexcept;
  Shelf& operator=(Shelf&& other) noexcept;
  ~Shelf();

  // The track of a subject; made empty when there is none.
  Id track(std::string_view subject);
  std::optional<Id> find(std::string_view subject) const;
  void drop(std::string_view subject);
  std::vector<std::string> subjects() const;
  // All values of all tracks; the tracks stay.
  void forget();

  // Begins the next slot; false (and nothing begun) when `at` is not after the last one.
  bool begin(MonoTime at);
  // Into the slot begun last. Columns not put stay absent.
  void put(Id id, uint32_t column, double value);

  struct Window {
    std::span<double> values;  // oldest first; valid until the next call of window() or aggregate()
    MonoTime first{}, last{};  // times of the first and the last value
    Duration span() const { return values.empty() ? Duration::zero() : last - first; }
  };
  // Values with from <= time <= to.
  Window window(Id id, uint32_t column, MonoTime from, MonoTime to) const;
  // nullopt for an empty window.
  std::optional<stats::Aggregate> aggregate(
      Id id, uint32_t column, MonoTime from, MonoTime to,
      stats::PercentileRule rule = stats::PercentileRule::kReference) const;
  std::optional<double> average(Id id, uint32_t column, MonoTime from, MonoTime to) const;
  // The newest value; nullopt when the newest slot of the track has none.
  std::optional<double> last(Id id, uint32_t column) const;
  std::optional<MonoTime> newest() const;  // time of the last slot

  size_t tracks() const { return index_.size(); }
  size_t bytes() const { return mapped_; }
  const ShelfShape& shape() const { return shape_; }
  bool restored() const { return restored_; }  // found content of an earlier process

 private:
  struct Header;
  struct Head;
  Shelf(ShelfShape shape) : shape_(shape) {}
  Result<> map(const std::string& path);
  Result<> resize(uint32_t tracks);
  // Goes on in memory alone, with everything that is there; when the disk is full.
  Result<> detach();
  bool fits(std::string_view bootId, MonoTime now) const;
  void format(std::string_view bootId);
  void rebuildIndex();
  void release();

  Header& header() const;
  int64_t* times() const;
  Head& head(Id id) const;
  double* column(Id id, uint32_t column) const;
  size_t trackBytes() const;
  size_t sizeFor(uint32_t tracks) const;
  void blank(Id id, uint64_t slot);
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  Range slotsBetween(MonoTime from, MonoTime to) const;

  ShelfShape shape_;
  int fd_ = -1;
  void* base_ = nullptr;
  size_t mapped_ = 0;
  bool restored_ = false;
  std::map<std::string, Id, std::less<>> index_;
  std::vector<Id> free_;
  mutable std::vector<double> scratch_;
};

}  // namespace mangrove::agent
