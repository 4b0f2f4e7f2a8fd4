#pragma once
// A number per value of one topology label, kept by delta as pods come and go.
//
//   DomainCounts counts(table.domains(key));
//   counts.add(row, +1);
//   counts.at(row)             // of the row's own domain; 0 when the node lacks the label
//
// Owner thread only.

#include <cstdint>
#include <vector>

#include "placement/cluster/node_table.h"

namespace mangrove::placement {

class DomainCounts {
 public:
  explicit DomainCounts(const Domains& domains) : domains_(&domains) {}

  const Domains& domains() const { return *domains_; }
  uint32_t domainOf(Row row) const { return domains_->of[row]; }
  bool has(Row row) const { return domains_->of[row] != 0; }
  int64_t at(Row row) const { return in(domains_->of[row]); }
  int64_t in(uint32_t domain) const { return domain < counts_.size() ? counts_[domain] : 0; }
  void add(Row row, int64_t by) { addIn(domains_->of[row], by); }
  void addIn(uint32_t domain, int64_t by) {
    if (domain == 0) return;
    if (domain >= counts_.size()) counts_.resize(domains_->values.size());
    if (counts_[domain] == 0) nonZero_++;
    counts_[domain] += by;
    if (counts_[domain] == 0) nonZero_--;
  }
  bool anywhere() const { return nonZero_ != 0; }
  // By domain; [0], no label, is 0. Valid until the next add().
  const int64_t* all() const {
    if (counts_.size() < domains_->values.size()) counts_.resize(domains_->values.size());
    return counts_.data();
  }
  void clear() {
    counts_.clear();
    nonZero_ = 0;
  }

 private:
  const Domains* domains_;
  mutable std::vector<int64_t> counts_;  // by domain; [0] unused
  size_t nonZero_ = 0;
};

// Remembers in which domains the rows were counted, to notice when a node moves.
class SeenDomains {
 public:
  void follow(const Domains& domains) { keys_.push_back({&domains, domains.of}); }
  void clear() { keys_.clear(); }
  bool moved(Row row) const {
    for (const auto& key : keys_)
      if ((row < key.seen.size() ? key.seen[row] : 0) != key.domains->of[row]) return true;
    return false;
  }
  void note(Row row) {
    for (auto& key : keys_) {
      if (row >= key.seen.size()) key.seen.resize(key.domains->of.size());
      key.seen[row] = key.domains->of[row];
    }
  }

 private:
  struct Key {
    const Domains* domains;
    std::vector<uint32_t> seen;
  };
  std::vector<Key> keys_;
};

}  // namespace mangrove::placement
