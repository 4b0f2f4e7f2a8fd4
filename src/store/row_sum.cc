#include "store/row_sum.h"

#include <bit>
#include <cstring>

namespace mangrove::store {
namespace {

// Every step is invertible in the word and in the state, so two rows that differ in a single word
// never have the same sum.
class Sum {
 public:
  void add(uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view text) {
    add(uint64_t{text.size()});
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) add(word(text, at, 8));
    if (at < text.size()) add(word(text, at, text.size() - at));
  }
  uint64_t value() const { return state_; }

 private:
  static uint64_t word(std::string_view text, size_t at, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, text.data() + at, bytes);
    static_assert(std::endian::native == std::endian::little,
                  "the sum is over little-endian words");
    return value;
  }
  uint64_t state_ = 0;
};

}  // namespace

uint64_t rowSum(const StoredRow& row) {
  Sum sum;
  sum.add(row.revision.v);
  sum.add(row.created.v);
  sum.add(uint64_t{row.deleted});
  sum.add(row.expireAt ? static_cast<uint64_t>(row.expireAt->time_since_epoch().count()) : 0);
  for (std::string_view text : {row.resource, row.ns, row.name, row.json}) sum.add(text);
  return sum.value();
}

}  // namespace mangrove::store
