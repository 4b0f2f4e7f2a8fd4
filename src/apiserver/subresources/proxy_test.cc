#include "apiserver/subresources/proxy.h"

#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

TEST(Proxy, NamesSaySchemeAndPort) {
  EXPECT_EQ(*readProxyName("web"), (ProxyName{"http", "web", ""}));
  EXPECT_EQ(*readProxyName("web:8080"), (ProxyName{"http", "web", "8080"}));
  EXPECT_EQ(*readProxyName("https:web:tls"), (ProxyName{"https", "web", "tls"}));
  EXPECT_EQ(*readProxyName("https:web:"), (ProxyName{"https", "web", ""}));
  EXPECT_EQ(*readProxyName(":web:80"), (ProxyName{"http", "web", "80"}));
  EXPECT_FALSE(readProxyName("ftp:web:21"));
  EXPECT_FALSE(readProxyName("a:b:c:d"));
}

TEST(Proxy, PathAndQueryGoOn) {
  const auto target = [](const char* path) { return proxyTarget(*parseRequest("GET", path)); };
  EXPECT_EQ(target("/api/v1/namespaces/d/pods/p/proxy"), "/");
  EXPECT_EQ(target("/api/v1/namespaces/d/pods/p:80/proxy/a/b?x=1&y=a%20b"), "/a/b?x=1&y=a%20b");
}

}  // namespace
}  // namespace mangrove::apiserver
