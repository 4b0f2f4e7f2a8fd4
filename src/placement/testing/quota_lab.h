#pragma once
// A lab with quotas of cpu, in one line each.
//
//   QuotaLab lab({{"reclaim", true}});
//   lab.machine("n1", 10);
//   lab.quota("owner", {.min = 5, .max = 10});
//   lab.ask("a", "owner", 3);
//   lab.run();
//
// One thread.

#include <string>
#include <string_view>

#include "placement/testing/lab.h"

namespace mangrove::placement {

class QuotaLab {
 public:
  explicit QuotaLab(const json::Object& args = {}, QuotaGates gates = {});

  void machine(const std::string& name, int cpu);
  struct Terms {
    int min = 0, max = 0;
    std::string parent = {};
    bool isParent = false;
    std::string annotations = {};  // members of an object
    int weight = 0;                // 0: the maximum
    bool lends = true;
  };
  void quota(const std::string& name, const Terms& terms);
  void dropQuota(const std::string& name);
  struct Ask {
    int priority = 0;
    std::string labels = {};       // members of an object
    std::string annotations = {};  // the same
  };
  void ask(const std::string& name, const std::string& quota, int cpu, const Ask& more);
  void ask(const std::string& name, const std::string& quota, int cpu, int priority = 0) {
    ask(name, quota, cpu, Ask{.priority = priority});
  }
  // A member of a gang that needs so many.
  void gangMember(const std::string& name, const std::string& quota, int cpu,
                  const std::string& gang, int needs, int priority = 0);

  json::Value page(const std::string& path);
  std::string used(const std::string& quota);     // of cpu
  std::string runtime(const std::string& quota);  // of cpu
  // Ticks, decides and waits for back-offs until nobody moves any more.
  void settle(int seconds = 15);

  void removePod(std::string_view name) { lab.removePod(name); }
  size_t run() { return lab.run(); }
  void wait(Duration duration) { lab.wait(duration); }
  std::string nodeOf(std::string_view pod) const { return lab.nodeOf(pod); }
  std::string said(std::string_view pod) const { return lab.said(pod); }
  bool isThere(std::string_view pod) const { return lab.find(pod) != nullptr; }
  std::shared_ptr<const api::Pod> find(std::string_view pod) const { return lab.find(pod); }

  Lab lab;

 private:
  std::string amountOf(const std::string& quota, std::string_view member);
};

}  // namespace mangrove::placement
