// Who counts where, once, and what several trees have.
#include "placement/quota/book.h"

#include <gmock/gmock.h>

#include "api/wire/names.h"

namespace mangrove::placement {
namespace {

const Interned kCpu("cpu");

Quota quota(const std::string& name, const std::string& cpu,
            const std::string& ns = "kube-system") {
  Quota out;
  out.ns = ns;
  out.name = name;
  out.parent = api::object::kRootQuota;
  out.max = {{"cpu", cpu}};
  return out;
}

struct Desk {
  explicit Desk(BookRules rules = {}) : book(withMaxima(std::move(rules))) {
    book.setTotal({{"cpu", 100000}});
  }
  static BookRules withMaxima(BookRules rules) {
    rules.defaultMax = rules.systemMax = {{"cpu", 1000000}};
    return rules;
  }
  void put(const Quota& one) { book.put(one.ns + "/" + one.name, one); }
  void pod(const char* uid, std::string_view label, std::string_view ns, int64_t cpu,
           bool assigned = false) {
    QuotaPod out;
    out.label = Interned(label);
    out.ns = Interned(ns);
    out.request = std::make_shared<Amounts>(Amounts{{"cpu", cpu}});
    out.assigned = assigned;
    book.see(api::Uid(uid), out);
  }
  std::string where(const char* uid) {
    const QuotaPlace place = book.placeOf(api::Uid(uid));
    return place ? place.name() : "nowhere";
  }
  int64_t used(std::string_view name) {
    const QuotaPlace place = book.find(name);
    return place.ledger->used(place.id).amount(kCpu);
  }
  int64_t asked(std::string_view name) {
    const QuotaPlace place = book.find(name);
    return place.ledger->numbers(place.id).request.amount(kCpu);
  }
  QuotaBook book;
};

const std::string kDefault(api::object::kDefaultQuota);

TEST(QuotaBook, ResolvesByLabelNamespaceAndList) {
  Desk desk;
  desk.put(quota("team-a", "10"));
  desk.put(quota("team-b", "10", "team-b"));
  desk.put(quota("elsewhere", "10", "other"));
  Quota listing = quota("listing", "10");
  listing.namespaces = {"listed"};
  desk.put(listing);
  desk.pod("1", "team-a", "x", 1);
  desk.pod("2", "", "team-b", 1);
  desk.pod("3", "", "elsewhere", 1);  // its namesake lives in another namespace
  desk.pod("4", "", "listed", 1);
  desk.pod("5", "", "nobody", 1);
  desk.pod("6", "unknown", "team-b", 1);
  EXPECT_EQ(desk.where("1"), "team-a");
  EXPECT_EQ(desk.where("2"), "team-b");
  EXPECT_EQ(desk.where("3"), kDefault);
  EXPECT_EQ(desk.where("4"), "listing");
  EXPECT_EQ(desk.where("5"), kDefault);
  EXPECT_EQ(desk.where("6"), kDefault);
}

TEST(QuotaBook, WithoutADefaultQuotaOnlyLabelsCount) {
  Desk desk({.noDefaultQuota = true});
  desk.put(quota("team-b", "10", "team-b"));
  desk.pod("1", "", "team-b", 1);
  desk.pod("2", "unknown", "team-b", 1);
  desk.pod("3", "team-b", "x", 1);
  EXPECT_EQ(desk.where("1"), "nowhere");
  EXPECT_EQ(desk.where("2"), "nowhere");
  EXPECT_EQ(desk.where("3"), "team-b");
}

TEST(QuotaBook, PodsMoveWhenTheirQuotaComesAndGoes) {
  Desk desk;
  desk.pod("1", "late", "x", 3, true);
  EXPECT_EQ(desk.used(kDefault), 3);
  desk.put(quota("late", "10"));
  EXPECT_EQ(desk.where("1"), "late");
  EXPECT_EQ(desk.used("late"), 3);
  EXPECT_EQ(desk.used(kDefault), 0);
  desk.book.erase("kube-system/late");
  EXPECT_EQ(desk.where("1"), kDefault);
  EXPECT_EQ(desk.used(kDefault), 3);
}

TEST(QuotaBook, CountsOnceWhateverIsToldTwice) {
  Desk desk;
  desk.put(quota("q", "10"));
  desk.pod("1", "q", "x", 3);
  EXPECT_TRUE(desk.book.assign(api::Uid("1")));
  EXPECT_FALSE(desk.book.assign(api::Uid("1")));
  EXPECT_EQ(desk.used("q"), 3);
  desk.pod("1", "q", "x", 3, true);  // the server shows the node
  EXPECT_EQ(desk.used("q"), 3);
  EXPECT_TRUE(desk.book.unassign(api::Uid("1")));
  EXPECT_FALSE(desk.book.unassign(api::Uid("1")));
  EXPECT_EQ(desk.used("q"), 0);
  EXPECT_EQ(desk.asked("q"), 3);
  desk.book.gone(api::Uid("1"));
  desk.book.gone(api::Uid("1"));
  EXPECT_EQ(desk.asked("q"), 0);
}

TEST(QuotaBook, ATreesTotalIsTakenFromTheDefaultTree) {
  Desk desk({.manyTrees = true});
  Quota root = quota("t1-root", "1000");
  root.treeId = "t1";
  root.isRoot = root.isParent = true;
  root.total = {{"cpu", "40"}};
  desk.put(root);
  const auto total = [&](const char* tree) {
    return desk.book.trees().at(tree)->total().amount(kCpu);
  };
  EXPECT_EQ(total(""), 60000);
  EXPECT_EQ(total("t1"), 40000);
  root.ignoresDefaultTree = true;
  desk.put(root);
  EXPECT_EQ(total(""), 100000);
  desk.book.erase("kube-system/t1-root");
  EXPECT_EQ(total(""), 100000);
  EXPECT_FALSE(desk.book.trees().contains("t1"));
}

TEST(QuotaBook, WithoutTheGateTreeIdsMeanNothing) {
  Desk desk;
  Quota one = quota("q", "10");
  one.treeId = "t1";
  desk.put(one);
  desk.pod("1", "q", "x", 3);
  EXPECT_EQ(desk.book.trees().size(), 1u);
  EXPECT_EQ(desk.where("1"), "q");
}

TEST(QuotaBook, WhatTheSchedulerWritesIsNoChange) {
  Desk desk;
  Quota one = quota("q", "10");
  desk.put(one);
  one.used = {{"cpu", "3"}};
  one.resourceVersion = "7";
  EXPECT_FALSE(desk.book.put("kube-system/q", one));
  one.max = {{"cpu", "11"}};
  EXPECT_TRUE(desk.book.put("kube-system/q", one));
}

TEST(QuotaBook, ThePlaceInLineIsByPriorityAndAge) {
  Desk desk;
  desk.put(quota("q", "10"));
  for (const char* uid : {"a", "b", "c"}) desk.pod(uid, "q", "x", 1);
  desk.pod("runs", "q", "x", 1, true);
  const auto line = desk.book.lineOf(api::Uid("b"));
  EXPECT_EQ(line.before, 1u);
  EXPECT_EQ(line.waiting, 3u);
}

}  // namespace
}  // namespace mangrove::placement
