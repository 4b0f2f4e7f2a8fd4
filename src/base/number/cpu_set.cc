#include "base/number/cpu_set.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

constexpr size_t kWordBits = 64;

size_t wordOf(int cpu) {
  return static_cast<size_t>(cpu) / kWordBits;
}

uint64_t bitOf(int cpu) {
  return uint64_t{1} << (static_cast<size_t>(cpu) % kWordBits);
}

// All bits from `first` to `last` of one word.
uint64_t bitsBetween(size_t first, size_t last) {
  return (~uint64_t{0} << first) & (~uint64_t{0} >> (kWordBits - 1 - last));
}

Result<int> parseCpu(std::string_view number, std::string_view part, std::string_view text) {
  std::string_view digits = number;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const std::optional<uint32_t> cpu = parseInt<uint32_t>(digits);
  if (!cpu) {
    return invalid(
        "cpu list '{}': '{}' in part '{}' is not a CPU number: want a list such as 0-3,7", text,
        number, part);
  }
  if (*cpu > static_cast<uint32_t>(CpuSet::kMaxCpu)) {
    return invalid("cpu list '{}': CPU {} is out of range: want at most {}", text, number,
                   CpuSet::kMaxCpu);
  }
  return static_cast<int>(*cpu);
}

Result<> parseRange(std::string_view part, std::string_view text, CpuSet& out) {
  const Halves ends = cut(part, '-');
  const Result<int> first = parseCpu(ends.before, part, text);
  if (!first) return pass(first.error());
  if (!ends.found) {
    out.add(*first);
    return {};
  }
  const Result<int> last = parseCpu(ends.after, part, text);
  if (!last) return pass(last.error());
  if (*last > CpuSet::kMaxRangeEnd) {
    return invalid("cpu list '{}': range '{}' ends after {}", text, part, CpuSet::kMaxRangeEnd);
  }
  if (*first <= *last) out.addRange(*first, *last);
  return {};
}

}  // namespace

CpuSet::CpuSet(std::initializer_list<int> cpus) {
  for (int cpu : cpus) add(cpu);
}

CpuSet CpuSet::of(const std::vector<int>& cpus) {
  CpuSet set;
  for (int cpu : cpus) set.add(cpu);
  return set;
}

CpuSet CpuSet::range(int first, int last) {
  CpuSet set;
  set.addRange(first, last);
  return set;
}

Result<CpuSet> CpuSet::parse(std::string_view text) {
  CpuSet set;
  if (text.empty()) return set;
  for (std::string_view rest = text;;) {
    const Halves halves = cut(rest, ',');
    if (Result<> added = parseRange(halves.before, text, set); !added) return pass(added.error());
    if (!halves.found) return set;
    rest = halves.after;
  }
}

std::string CpuSet::text() const {
  std::string out;
  for (int start = first(); start >= 0;) {
    int end = start;
    while (contains(end + 1)) ++end;
    if (!out.empty()) out += ',';
    fmt::format_to(std::back_inserter(out), "{}", start);
    if (end > start) fmt::format_to(std::back_inserter(out), "-{}", end);
    start = next(end);
  }
  return out;
}

std::vector<int> CpuSet::list() const {
  std::vector<int> cpus;
  cpus.reserve(size());
  for (int cpu : *this) cpus.push_back(cpu);
  return cpus;
}

uint64_t CpuSet::word(size_t index) const {
  if (index < kInlineWords) return inline_[index];
  return index < words() ? more_[index - kInlineWords] : 0;
}

uint64_t& CpuSet::wordForWrite(size_t index) {
  if (index < kInlineWords) return inline_[index];
  if (index >= words()) more_.resize(index - kInlineWords + 1);
  return more_[index - kInlineWords];
}

bool CpuSet::contains(int cpu) const {
  return cpu >= 0 && (word(wordOf(cpu)) & bitOf(cpu)) != 0;
}

void CpuSet::add(int cpu) {
  CHECK(cpu >= 0 && cpu <= kMaxCpu, "cpu {}", cpu);
  wordForWrite(wordOf(cpu)) |= bitOf(cpu);
}

void CpuSet::addRange(int first, int last) {
  if (first > last) return;
  CHECK(first >= 0 && last <= kMaxCpu, "cpus {}-{}", first, last);
  for (size_t index = wordOf(first); index <= wordOf(last); ++index) {
    const size_t from = index == wordOf(first) ? static_cast<size_t>(first) % kWordBits : 0;
    const size_t to = index == wordOf(last) ? static_cast<size_t>(last) % kWordBits : kWordBits - 1;
    wordForWrite(index) |= bitsBetween(from, to);
  }
}

void CpuSet::remove(int cpu) {
  if (contains(cpu)) wordForWrite(wordOf(cpu)) &= ~bitOf(cpu);
}

size_t CpuSet::size() const {
  size_t count = 0;
  for (size_t i = 0; i < words(); ++i) count += static_cast<size_t>(std::popcount(word(i)));
  return count;
}

int CpuSet::last() const {
  for (size_t i = words(); i-- > 0;) {
    if (const uint64_t bits = word(i)) {
      return static_cast<int>((i + 1) * kWordBits) - 1 - std::countl_zero(bits);
    }
  }
  return -1;
}

int CpuSet::next(int cpu) const {
  const int from = cpu + 1;
  CHECK(from >= 0, "next({})", cpu);
  for (size_t i = wordOf(from); i < words(); ++i) {
    uint64_t bits = word(i);
    if (i == wordOf(from)) bits &= ~uint64_t{0} << (static_cast<size_t>(from) % kWordBits);
    if (bits != 0) return static_cast<int>(i * kWordBits) + std::countr_zero(bits);
  }
  return -1;
}

// Word by word over both sets; inlined with the operation it is given.
template <class Op>
CpuSet CpuSet::combined(const CpuSet& other, Op op) const {
  CpuSet out;
  const size_t count = std::max(words(), other.words());
  if (count > kInlineWords) out.more_.resize(count - kInlineWords);
  for (size_t i = 0; i < count; ++i) out.wordForWrite(i) = op(word(i), other.word(i));
  return out;
}

CpuSet CpuSet::operator|(const CpuSet& other) const {
  return combined(other, [](uint64_t a, uint64_t b) { return a | b; });
}

CpuSet CpuSet::operator&(const CpuSet& other) const {
  return combined(other, [](uint64_t a, uint64_t b) { return a & b; });
}

CpuSet CpuSet::operator-(const CpuSet& other) const {
  return combined(other, [](uint64_t a, uint64_t b) { return a & ~b; });
}

bool CpuSet::isSubsetOf(const CpuSet& other) const {
  for (size_t i = 0; i < words(); ++i) {
    if ((word(i) & ~other.word(i)) != 0) return false;
  }
  return true;
}

bool CpuSet::intersects(const CpuSet& other) const {
  for (size_t i = 0; i < std::min(words(), other.words()); ++i) {
    if ((word(i) & other.word(i)) != 0) return true;
  }
  return false;
}

bool CpuSet::operator==(const CpuSet& other) const {
  for (size_t i = 0; i < std::max(words(), other.words()); ++i) {
    if (word(i) != other.word(i)) return false;
  }
  return true;
}

}  // namespace mangrove
