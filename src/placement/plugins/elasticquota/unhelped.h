#pragma once
// Pods that nobody's going would have helped when room was looked for, by quota and by what they ask
// for: one look at the numbers judges all of a kind.
//
//   Unhelped waiting;
//   waiting.put(uid, place, request, now);
//   for (const api::Uid& uid : waiting.worthATry(desk, now)) …     // no longer here
//
// Owner thread only.

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "placement/plugins/elasticquota/quota_desk.h"

namespace mangrove::placement {

class Unhelped {
 public:
  void put(const api::Uid& uid, const QuotaPlace& place,
           const std::shared_ptr<const Amounts>& request, MonoTime now);
  void erase(const api::Uid& uid);
  // Those within their minimums now while others borrow, where the numbers have changed since: the
  // first few of each kind, who waited longest.
  std::vector<api::Uid> worthATry(const QuotaDesk& desk, MonoTime now);

 private:
  using Key = std::tuple<const QuotaLedger*, QuotaId, const Amounts*>;
  struct Kind {
    QuotaPlace place;
    std::shared_ptr<const Amounts> request;
    uint64_t changes = 0;  // of the ledger, at the last look
    MonoTime at{};
    std::map<uint64_t, api::Uid> pods;  // in the order they came
  };
  void settle(const QuotaBook& book);

  std::map<Key, Kind> kinds_;
  std::unordered_map<api::Uid, std::pair<Key, uint64_t>> where_;
  uint64_t next_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace mangrove::placement
