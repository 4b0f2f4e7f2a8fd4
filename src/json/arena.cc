#include "json/arena.h"

#include <utility>
#include <vector>

namespace mangrove::json {

namespace {

// A pod with its books takes about half of it.
constexpr size_t kFirstPiece = 24 * 1024;
constexpr size_t kMostSpare = 4;

thread_local std::vector<std::unique_ptr<unsigned char[]>> spare;

std::unique_ptr<unsigned char[]> piece() {
  if (spare.empty()) return std::make_unique_for_overwrite<unsigned char[]>(kFirstPiece);
  auto last = std::move(spare.back());
  spare.pop_back();
  return last;
}

}  // namespace

Arena::Arena() : first_(piece()), resource_(first_.get(), kFirstPiece) {}

Arena::~Arena() {
  resource_.release();
  if (spare.size() < kMostSpare) spare.push_back(std::move(first_));
}

void take(Value& to, Value&& from) noexcept {
  Value moved(std::move(from));
  std::destroy_at(&to);
  std::construct_at(&to, std::move(moved));
}

}  // namespace mangrove::json
