#pragma once
// What the manager sells of this node by the reports it got, and when a new one would make it write other
// amounts: when one of them moved by more than the manager's share of itself, or when its last write is so
// long ago that it writes whatever it sees (api/annotations/sale_rule.h). A report at exactly these rounds
// puts on the Node what reports at every round would.
//
//   Sale sale;
//   sale.onNode(node, known, now);                       // the amounts as they stand on the Node
//   if (sale.moves(status, now, rule)) …send, then: sale.told(status, now, rule);
//
// The formula's fixed part (capacity, margin, what is requested and never reported) is not known here; it
// is what stands on the Node less what the last report added to it. Owner thread; no I/O.

#include <array>
#include <cstdint>
#include <optional>

#include "api/annotations/sale_rule.h"
#include "api/koordinator/node_metric.h"
#include "api/object/node.h"
#include "base/clock.h"

namespace mangrove::agent {

class Sale {
 public:
  // Where the manager says no rule: the defaults of Koordinator's.
  static constexpr api::SaleRule kUnknownRule{0.1, std::chrono::minutes(5)};
  // Where it writes whatever moved: what is sold stays within 1 %.
  static constexpr double kLeastShare = 0.009;

  // `known`: what the manager has seen of us. Null: the Node is gone.
  void onNode(const api::Node* node, const api::NodeMetricStatus& known, MonoTime now);
  // Something of this node is for sale.
  bool isOpen() const { return isOpen_; }
  bool moves(const api::NodeMetricStatus& now, MonoTime at, api::SaleRule rule) const;
  // The manager got this one.
  void told(const api::NodeMetricStatus& status, MonoTime at, api::SaleRule rule);

  // batch-cpu, batch-memory, mid-cpu, mid-memory: in thousandths of cores and in bytes.
  static constexpr size_t kNames = 4;
  using Amounts = std::array<int64_t, kNames>;

 private:
  using Stand = std::array<std::optional<int64_t>, kNames>;
  Amounts reported(const api::NodeMetricStatus& status) const;
  Amounts amountsBy(const api::NodeMetricStatus& status) const;
  void fix(const api::NodeMetricStatus& by, MonoTime now);
  bool differ(const Amounts& now, double share) const;

  struct {
    Amounts capacity{}, kept{};  // [0] and [1] only
  } node_;
  Stand stand_;      // on the Node, as seen last
  Amounts base_{};   // the same, or what it should have become since
  Amounts fixed_{};  // base less what the report adds
  MonoTime wroteAt_{};
  bool isOpen_ = false, isFixed_ = false;
};

}  // namespace mangrove::agent
