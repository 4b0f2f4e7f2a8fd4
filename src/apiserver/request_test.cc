#include "apiserver/request.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

std::string shown(std::string_view method, std::string_view target) {
  auto r = parseRequest(method, target);
  if (!r) return "error";
  if (!r->isResource) return "path " + r->path;
  return fmt::format("{} {}/{}/{} ns={} name={} sub={}", verbName(r->verb), r->group, r->version,
                     r->resource, r->ns, r->name, r->subresource);
}

TEST(Request, ReadsObjectPaths) {
  struct Row {
    const char *method, *target, *want;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"GET", "/api/v1/pods", "list /v1/pods ns= name= sub="},
           {"GET", "/api/v1/namespaces/d/pods", "list /v1/pods ns=d name= sub="},
           {"GET", "/api/v1/namespaces/d/pods/p", "get /v1/pods ns=d name=p sub="},
           {"GET", "/api/v1/namespaces/d/pods/p/log?follow=true",
            "get /v1/pods ns=d name=p sub=log"},
           {"POST", "/api/v1/namespaces/d/pods/p/binding",
            "create /v1/pods ns=d name=p sub=binding"},
           {"GET", "/api/v1/namespaces", "list /v1/namespaces ns= name= sub="},
           {"GET", "/api/v1/namespaces/d", "get /v1/namespaces ns=d name=d sub="},
           {"PUT", "/api/v1/namespaces/d/finalize",
            "update /v1/namespaces ns=d name=d sub=finalize"},
           {"PUT", "/api/v1/namespaces/d/status", "update /v1/namespaces ns=d name=d sub=status"},
           {"GET", "/api/v1/nodes?watch=true", "watch /v1/nodes ns= name= sub="},
           {"GET", "/api/v1/nodes?watch=0", "list /v1/nodes ns= name= sub="},
           {"GET", "/api/v1/watch/nodes", "watch /v1/nodes ns= name= sub="},
           {"GET", "/apis/apps/v1/watch/namespaces/d/deployments",
            "watch apps/v1/deployments ns=d name= sub="},
           {"DELETE", "/apis/apps/v1/namespaces/d/deployments",
            "deletecollection apps/v1/deployments ns=d name= sub="},
           {"DELETE", "/apis/apps/v1/namespaces/d/deployments/w",
            "delete apps/v1/deployments ns=d name=w sub="},
           {"PATCH", "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n1/status",
            "patch slo.koordinator.sh/v1alpha1/nodemetrics ns= name=n1 sub=status"},
           {"GET", "/api/v1/namespaces/d/services/s/proxy/a/b",
            "get /v1/services ns=d name=s sub=proxy/a/b"},
           {"GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
            "get rbac.authorization.k8s.io/v1/clusterroles ns= name=system:node sub="},
           {"GET", "/api/v1/pods/", "list /v1/pods ns= name= sub="},
           {"GET", "/api", "path /api"},
           {"GET", "/api/v1", "path /api/v1"},
           {"GET", "/apis/apps/v1", "path /apis/apps/v1"},
           {"GET", "/version", "path /version"},
           {"GET", "/", "path /"},
       }) {
    EXPECT_EQ(shown(row.method, row.target), row.want) << row.method << " " << row.target;
  }
}

TEST(Request, RefusesTricks) {
  for (auto target :
       {"", "api/v1/pods", "/api//v1/pods", "/api/v1/../secrets", "/api/v1/namespaces/%2e%2e/pods",
        "/api/v1/namespaces/a%2Fb/pods", "/api/v1/pods/%00", "/api/v1/pods/a%0Ab", "/api/v1/./pods",
        "/api/v1/pods/%zz"}) {
    EXPECT_EQ(shown("GET", target), "error") << target;
  }
  EXPECT_EQ(parseRequest("TRACE", "/api/v1/pods").error().code(), Code::kUnsupported);
}

TEST(Request, ReadsParameters) {
  auto r = parseRequest("GET", "/api/v1/pods?labelSelector=a%3Db%2Cc&limit=5&watch&x=1&x=2");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->parameter("labelSelector"), "a=b,c");
  EXPECT_EQ(r->parameter("limit"), "5");
  EXPECT_EQ(r->parameter("x"), "1");
  EXPECT_FALSE(r->flag("watch"));
  EXPECT_EQ(r->parameter("none"), "");
}

}  // namespace
}  // namespace mangrove::apiserver
