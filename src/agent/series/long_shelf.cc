#include "agent/series/long_shelf.h"

#include <algorithm>

namespace mangrove::agent {

void LongShelf::follow(const Shelf& fine, MonoTime at) {
  const bool isFirst = next_ == MonoTime::min();
  if (!isFirst && at < next_) return;
  next_ = at - at.time_since_epoch() % step_ + step_;
  if (isFirst || !shelf_.begin(at)) return;
  for (const std::string& subject : fine.subjects()) {
    const Shelf::Id from = *fine.find(subject), to = shelf_.track(subject);
    for (uint32_t column = 0; column < shelf_.shape().columns; ++column)
      if (const auto mean = fine.average(from, column, at - step_, at))
        shelf_.put(to, column, *mean);
  }
  for (const std::string& subject : shelf_.subjects())
    if (!fine.find(subject)) shelf_.drop(subject);
}

LongShape longShape(Duration window, uint32_t slots, Duration fineSpan) {
  constexpr Duration kGrain = std::chrono::seconds(10);
  const Duration exact = window / slots;
  const Duration step = std::clamp<Duration>((exact + kGrain - Duration(1)) / kGrain * kGrain,
                                             kGrain, std::max(fineSpan, kGrain));
  return {step, static_cast<uint32_t>((window + step - Duration(1)) / step) + 1};
}

}  // namespace mangrove::agent
