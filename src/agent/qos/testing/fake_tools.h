#pragma once
// Stand-ins for what a kernel does that captured machines cannot: cookies of core scheduling as
// numbers in a table, network classes as the plans that were sent.
//
//   FakeCookies cookies;
//   bench.tools.cookies = &cookies;
//   EXPECT_EQ(cookies.cookie[41], cookies.cookie[42]);
//
// For tests; one thread.

#include <map>
#include <string>
#include <vector>

#include "agent/executor/core_cookies.h"
#include "agent/executor/net_plan.h"

namespace mangrove::agent::testing {

class FakeCookies final : public CoreCookies {
 public:
  Result<uint64_t> get(int pid) override { return cookie[pid]; }
  Result<> run(const CookieStep& step) override {
    using Kind = CookieStep::Kind;
    cookie[step.pid] = step.kind == Kind::kCreate  ? next++
                       : step.kind == Kind::kShare ? cookie[step.from]
                                                   : 0;
    return {};
  }
  std::map<int, uint64_t> cookie;
  uint64_t next = 1;
};

class FakeShaper final : public NetShaper {
 public:
  Result<> apply(const NetPlan& plan) override {
    if (denied) return fail(Code::kDenied, "not permitted");
    plans.push_back(plan);
    there = true;
    return {};
  }
  Result<> remove(const std::string&) override {
    there = false;
    return {};
  }
  Result<bool> isThere(const std::string&) override { return there; }
  std::vector<NetPlan> plans;
  bool there = false, denied = false;
};

}  // namespace mangrove::agent::testing
