#include "apiserver/auth/rbac_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"

namespace mangrove::apiserver {
namespace {

struct Case {
  Rule rule;
  Attributes what;
  bool allowed;
};

TEST(RbacRules, PermitWhatTheyNameAndNothingElse) {
  const Rule pods{{"get", "list"}, {""}, {"pods"}, {}, {}};
  const Rule logs{{"get"}, {""}, {"pods/log"}, {}, {}};
  const Rule scales{{"update"}, {"*"}, {"*/scale"}, {}, {}};
  const Rule named{{"get", "delete"}, {""}, {"configmaps"}, {"a", "b"}, {}};
  const Rule all{{"*"}, {"*"}, {"*"}, {}, {}};
  const Rule paths{{"get"}, {}, {}, {}, {"/healthz", "/logs/*"}};
  const Rule everyPath{{"*"}, {}, {}, {}, {"*"}};
  const Case kCases[] = {
      {pods, ask("get", "pods", "prod/web"), true},
      {pods, ask("list", "pods", "prod/"), true},
      {pods, ask("watch", "pods", "prod/"), false},
      {pods, ask("get", "metrics.k8s.io:pods", "prod/web"), false},
      {pods, ask("get", "pods/log", "prod/web"), false},
      {pods, ask("get", "podtemplates", "prod/web"), false},
      {pods, ask("get", "/pods"), false},
      {logs, ask("get", "pods/log", "prod/web"), true},
      {logs, ask("get", "pods", "prod/web"), false},
      {logs, ask("get", "pods/status", "prod/web"), false},
      {scales, ask("update", "apps:deployments/scale", "prod/web"), true},
      {scales, ask("update", "example.com:cars/scale", "prod/web"), true},
      {scales, ask("update", "apps:deployments", "prod/web"), false},
      {scales, ask("update", "apps:deployments/status", "prod/web"), false},
      {scales, ask("get", "apps:deployments/scale", "prod/web"), false},
      {named, ask("get", "configmaps", "prod/a"), true},
      {named, ask("get", "configmaps", "prod/c"), false},
      {named, ask("get", "configmaps", "prod/"), false},
      {all, ask("impersonate", "users", "ann"), true},
      {all, ask("create", "pods/eviction", "prod/web"), true},
      {all, ask("get", "/metrics"), false},
      {paths, ask("get", "/healthz"), true},
      {paths, ask("get", "/healthz/ping"), false},
      {paths, ask("get", "/logs/a/b"), true},
      {paths, ask("get", "/logs"), false},
      {paths, ask("post", "/healthz"), false},
      {everyPath, ask("post", "/anything/at/all"), true},
      {everyPath, ask("get", "pods", "prod/web"), false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(RuleSet({c.rule}).allows(c.what), c.allowed)
        << ruleText(c.rule) << " " << c.what.verb << " " << c.what.resource << "/"
        << c.what.subresource << c.what.path << " " << c.what.name;
  }
}

TEST(RbacRules, TheIndexAgreesWithOneRuleAtATime) {
  const std::vector<Rule> rules = {{{"get"}, {""}, {"pods", "*/scale"}, {}, {}},
                                   {{"list"}, {"apps"}, {"*"}, {}, {}},
                                   {{"*"}, {"*"}, {"pods/log"}, {"web"}, {}},
                                   {{"get"}, {}, {}, {}, {"/a*"}}};
  const RuleSet together(rules);
  for (const char* verb : {"get", "list", "delete"}) {
    for (const char* what : {"pods", "pods/log", "pods/scale", "apps:deployments", "apps:pods",
                             "apps:x/scale", "secrets", "/a", "/ab", "/b"}) {
      for (const char* where : {"ns/web", "ns/db", "web"}) {
        const Attributes question = ask(verb, what, where);
        bool expected = false;
        for (const Rule& rule : rules) expected |= RuleSet({rule}).allows(question);
        EXPECT_EQ(together.allows(question), expected) << verb << " " << what << " " << where;
      }
    }
  }
}

TEST(RbacRules, CoverWhatIsNoMoreThanThemselves) {
  struct Row {
    Rule held, wanted;
    bool covered;
  };
  const Rule all{{"*"}, {"*"}, {"*"}, {}, {}};
  const Rule read{{"get", "list"}, {"", "apps"}, {"pods", "deployments"}, {}, {}};
  const Row kRows[] = {
      {all, read, true},
      {read, all, false},
      {read, read, true},
      {read, {{"get"}, {""}, {"pods"}, {"web"}, {}}, true},
      {{{"get"}, {""}, {"pods"}, {"web"}, {}}, {{"get"}, {""}, {"pods"}, {}, {}}, false},
      {{{"get"}, {""}, {"pods"}, {"web"}, {}}, {{"get"}, {""}, {"pods"}, {"web"}, {}}, true},
      {{{"get"}, {""}, {"pods"}, {"web"}, {}}, {{"get"}, {""}, {"pods"}, {"db"}, {}}, false},
      {read, {{"get", "watch"}, {""}, {"pods"}, {}, {}}, false},
      {read, {{"*"}, {""}, {"pods"}, {}, {}}, false},
      {{{"get"}, {"*"}, {"*/scale"}, {}, {}}, {{"get"}, {"apps"}, {"x/scale"}, {}, {}}, true},
      {{{"get"}, {"*"}, {"*/scale"}, {}, {}}, {{"get"}, {"apps"}, {"x/status"}, {}, {}}, false},
      {{{"get"}, {"*"}, {"*/scale"}, {}, {}}, {{"get"}, {"apps"}, {"*/scale"}, {}, {}}, true},
      {{{"get"}, {}, {}, {}, {"/logs/*"}}, {{"get"}, {}, {}, {}, {"/logs/a"}}, true},
      {{{"get"}, {}, {}, {}, {"/logs/*"}}, {{"get"}, {}, {}, {}, {"/logs/*"}}, true},
      {{{"get"}, {}, {}, {}, {"/logs/*"}}, {{"get"}, {}, {}, {}, {"*"}}, false},
      {all, {{"get"}, {}, {}, {}, {"/logs"}}, false},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(uncovered({{row.held}}, {{row.wanted}}).empty(), row.covered)
        << ruleText(row.held) << " " << ruleText(row.wanted);
  }
}

TEST(RbacRules, SeveralRulesCoverTogether) {
  const std::vector<Rule> held = {{{"get"}, {""}, {"pods"}, {}, {}},
                                  {{"list"}, {""}, {"pods"}, {}, {}}};
  const std::vector<Rule> wanted = {{{"get", "list"}, {""}, {"pods"}, {}, {}}};
  EXPECT_TRUE(uncovered(held, wanted).empty());
}

// A role of a few kilobytes must not cost more memory and time than there are.
TEST(RbacRules, MoreCombinationsThanCanBeCounted) {
  std::vector<std::string> many;
  for (int i = 0; i < 2000; ++i) many.push_back("x" + std::to_string(i));
  const Rule wide{many, many, many, many, {}};
  const Rule all{{"*"}, {"*"}, {"*"}, {}, {}}, gets{{"get"}, {""}, {"pods"}, {}, {}};
  EXPECT_TRUE(uncovered({{all}}, {{wide}}).empty());
  EXPECT_EQ(uncovered({{gets}}, {{wide}}).size(), 1u);
  const std::vector<std::string> get(2000, "get"), core(2000, ""), pods(2000, "pods");
  const Rule again{get, core, pods, {}, {}};
  EXPECT_TRUE(uncovered({{gets}}, {{again}}).empty()) << "said again and again";
  EXPECT_EQ(uncovered({}, std::vector<Rule>{{{"get"}, {""}, many, {}, {}}}).size(), 1000u);
}

TEST(RbacRules, MissingOnesAreGatheredByVerb) {
  const std::vector<Rule> wanted = {{{"get", "list"}, {""}, {"secrets"}, {}, {}}};
  const auto missing = uncovered({}, wanted);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(ruleText(missing[0]),
            R"({APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]})");
}

TEST(RbacRules, ReadBackWhatTheyWrite) {
  const json::Object role = object(R"({"rules":[
      {"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]},
      {"verbs":["get"],"nonResourceURLs":["/x"]}]})");
  const auto rules = readRules(role);
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(readRules({{"rules", writeRules(rules)}}), rules);
  EXPECT_TRUE(readRules(object(R"({"rules":null})")).empty());
  EXPECT_EQ(readRules(object(R"({"rules":[{"verbs":"get"}, 3]})")), std::vector<Rule>(1));
}

TEST(Attributes, FollowTheRequest) {
  struct Row {
    const char *method, *target, *want;
  };
  const Row kRows[] = {
      {"GET", "/api/v1/namespaces/prod/pods/web/log?follow=1", "get pods/log prod web"},
      {"GET", "/api/v1/namespaces/prod/pods/web/proxy/a/b", "get pods/proxy prod web"},
      {"GET", "/api/v1/pods?fieldSelector=metadata.name%3Dweb", "list pods/  web"},
      {"GET", "/api/v1/pods?watch=1&fieldSelector=a%3Db%2Cmetadata.name%3D%3Dweb",
       "watch pods/  web"},
      {"GET", "/api/v1/pods?fieldSelector=metadata.name%21%3Dweb", "list pods/  "},
      {"DELETE", "/api/v1/namespaces/prod/pods", "deletecollection pods/ prod "},
      {"POST", "/metrics", "post /  "},
      {"PUT", "/metrics", "put /  "},
      {"GET", "/metrics", "get /  "},
  };
  for (const Row& row : kRows) {
    auto info = parseRequest(row.method, row.target);
    ASSERT_TRUE(info) << row.target;
    const Attributes a = Attributes::of(*info);
    EXPECT_EQ(a.verb + " " + a.resource + "/" + a.subresource + " " + a.ns + " " + a.name,
              row.want);
  }
}

TEST(Denied, SaysWhoMayNotDoWhatWhere) {
  const Identity ann = user("ann");
  EXPECT_THAT(denied(ann, ask("get", "apps:deployments/scale", "prod/web")).body,
              ::testing::HasSubstr(
                  R"(deployments.apps \"web\" is forbidden: User \"ann\" cannot get resource )"
                  R"(\"deployments/scale\" in API group \"apps\" in the namespace \"prod\")"));
  EXPECT_THAT(
      denied(ann, ask("list", "nodes"), "RBAC: why").body,
      ::testing::HasSubstr(R"(nodes is forbidden: User \"ann\" cannot list resource \"nodes\" )"
                           R"(in API group \"\" at the cluster scope: RBAC: why)"));
  EXPECT_THAT(denied(ann, ask("get", "/metrics")).body,
              ::testing::HasSubstr(R"(forbidden: User \"ann\" cannot get path \"/metrics\")"));
}

}  // namespace
}  // namespace mangrove::apiserver
