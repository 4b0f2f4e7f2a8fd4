#pragma once
// A set of CPU numbers and its kernel text ("0-3,7"). Machines up to 256 CPUs need no allocation.
//
//   Result<CpuSet> shared = CpuSet::parse("0-3,8");
//   (*shared - CpuSet{0}).text();            // "1-3,8"
//   for (int cpu : *shared) …                // ascending
//
// Values: copy and move freely; const access from any thread.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove {

class CpuSet {
 public:
  // The largest CPU number we believe: eight times what any Linux kernel is built for, and 8 KiB of
  // bits, so that a wild number in an annotation cannot take the machine's memory.
  static constexpr int kMaxCpu = 65535;
  // Ranges end at 4096 at the latest, as Koordinator has it.
  static constexpr int kMaxRangeEnd = 4096;

  CpuSet() = default;
  CpuSet(std::initializer_list<int> cpus);
  // Numbers below 0 or above kMaxCpu are a programmer's error (CHECK); text from outside goes
  // through parse.
  static CpuSet of(const std::vector<int>& cpus);
  static CpuSet range(int first, int last);  // both included
  // As Koordinator reads it: "" is the empty set; no blanks, no empty parts; numbers may repeat and
  // have a "+"; a reversed range ("5-3") holds nothing. Errors name the part.
  static Result<CpuSet> parse(std::string_view text);

  // Canonical: ascending, runs joined ("0-3,7"); a run of two is a range as well ("0-1").
  std::string text() const;
  std::vector<int> list() const;

  bool contains(int cpu) const;
  void add(int cpu);
  void addRange(int first, int last);  // both included; nothing when reversed
  void remove(int cpu);
  void clear() { *this = CpuSet(); }

  size_t size() const;
  bool empty() const { return next(-1) < 0; }
  int first() const { return next(-1); }  // -1 when empty
  int last() const;                       // -1 when empty
  int next(int cpu) const;                // the smallest member above cpu, -1 when there is none

  CpuSet operator|(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet operator-(const CpuSet& other) const;
  bool isSubsetOf(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;
  bool operator==(const CpuSet& other) const;

  class Iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const int*;
    using reference = int;
    Iterator() = default;
    Iterator(const CpuSet* set, int cpu) : set_(set), cpu_(cpu) {}
    int operator*() const { return cpu_; }
    Iterator& operator++() {
      cpu_ = set_->next(cpu_);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return cpu_ == other.cpu_; }

   private:
    const CpuSet* set_ = nullptr;
    int cpu_ = -1;
  };
  Iterator begin() const { return {this, first()}; }
  Iterator end() const { return {this, -1}; }

 private:
  static constexpr size_t kInlineWords = 4;  // 256 CPUs

  template <class Op>
  CpuSet combined(const CpuSet& other, Op op) const;
  uint64_t word(size_t index) const;
  uint64_t& wordForWrite(size_t index);
  size_t words() const { return kInlineWords + more_.size(); }

  std::array<uint64_t, kInlineWords> inline_{};
  std::vector<uint64_t> more_;  // words from kInlineWords on; its last word may be zero
};

}  // namespace mangrove
