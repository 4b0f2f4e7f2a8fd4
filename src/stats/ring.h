#pragma once
// A fixed-size ring of (time, value) points: one per metric series, so that memory is flat however
// long the agent runs. All memory is taken in the constructor; when full, a new point replaces the
// oldest.
//
// Times are expected to ascend (one collector writes a series); a point older than the newest is
// refused, so window queries are two binary searches. One owner, no locks.
//
//   Ring cpu(300);                                       // five minutes at 1 Hz
//   cpu.push(clock.mono(), cores);
//   Ring::Window w = cpu.between(now - 60s, now);        // both ends included
//   w.copyTo(scratch);  auto stats = aggregate(scratch);

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>

#include "base/check.h"
#include "base/number/units.h"

namespace mangrove::stats {

struct Point {
  MonoTime at{};
  double value = 0;
};
static_assert(sizeof(Point) == 16);

class Ring {
 public:
  explicit Ring(size_t capacity)
      : points_(std::make_unique<Point[]>(capacity)), capacity_(capacity) {
    CHECK(capacity > 0);
  }

  // False, and nothing stored, when `at` is before the newest point.
  bool push(MonoTime at, double value);
  void clear() { begin_ = size_ = 0; }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  // Oldest is 0.
  const Point& operator[](size_t i) const { return points_[slot(i)]; }
  const Point& oldest() const { return (*this)[0]; }
  const Point& newest() const { return (*this)[size_ - 1]; }

  // A view of consecutive points, oldest first; valid until the ring is written to.
  class Window;
  Window all() const;
  // Points with from <= time <= to.
  Window between(MonoTime from, MonoTime to) const;

 private:
  size_t slot(size_t i) const {
    return begin_ + i < capacity_ ? begin_ + i : begin_ + i - capacity_;
  }
  // How many points are before `at` (or not after, when `inclusive`).
  size_t countBefore(MonoTime at, bool inclusive) const;

  std::unique_ptr<Point[]> points_;
  size_t capacity_;
  size_t begin_ = 0;
  size_t size_ = 0;
};

class Ring::Window {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Point;
    using difference_type = std::ptrdiff_t;
    using pointer = const Point*;
    using reference = const Point&;

    Iterator() = default;
    Iterator(const Ring* ring, size_t i) : ring_(ring), i_(i) {}
    const Point& operator*() const { return (*ring_)[i_]; }
    const Point* operator->() const { return &(*ring_)[i_]; }
    Iterator& operator++() { return ++i_, *this; }
    Iterator operator++(int) { return {ring_, i_++}; }
    bool operator==(const Iterator& o) const { return i_ == o.i_; }

   private:
    const Ring* ring_ = nullptr;
    size_t i_ = 0;
  };

  Window(const Ring& ring, size_t first, size_t count)
      : ring_(&ring), first_(first), count_(count) {}
  Iterator begin() const { return {ring_, first_}; }
  Iterator end() const { return {ring_, first_ + count_}; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Point& front() const { return (*ring_)[first_]; }
  const Point& back() const { return (*ring_)[first_ + count_ - 1]; }
  // Time from the first to the last point; zero with fewer than two.
  Duration span() const { return empty() ? Duration::zero() : back().at - front().at; }
  // Copies the values, oldest first, as many as fit; returns the part of `out` that was filled.
  std::span<double> copyTo(std::span<double> out) const;

 private:
  const Ring* ring_;
  size_t first_;
  size_t count_;
};

}  // namespace mangrove::stats
