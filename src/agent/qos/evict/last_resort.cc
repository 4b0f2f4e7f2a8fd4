#include "agent/qos/evict/last_resort.h"

namespace mangrove::agent {

void LastResort::asked(bool answered, MonoTime now) {
  if (answered)
    awaySince_ = MonoTime::min();
  else if (awaySince_ == MonoTime::min())
    awaySince_ = now;
}

bool LastResort::isDue(MonoTime now) const {
  return after_ > Duration::zero() && awaySince_ != MonoTime::min() && now - awaySince_ >= after_;
}

}  // namespace mangrove::agent
