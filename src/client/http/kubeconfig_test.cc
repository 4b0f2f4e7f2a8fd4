#include "client/http/kubeconfig.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/os/temp_folder.h"

namespace mangrove::client {
namespace {

constexpr const char* kGood = R"(
apiVersion: v1
kind: Config
current-context: dev
preferences: {colors: true}
clusters:
- name: home
  cluster:
    server: https://10.0.0.1:6443/prefix
    certificate-authority-data: Y2EtcGVt
    tls-server-name: api.home
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: me}
- name: lab
  cluster: {server: "http://lab:8080"}
users:
- name: alice
  user:
    client-certificate: pki/alice.crt
    client-key-data: a2V5
    as: bob
    as-uid: u1
    as-groups: [a, b]
    as-user-extra: {scope: [x, "y"]}
- name: robot
  user: {token: 12345}
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/get-token
      args: [--cluster, home]
      env: [{name: REGION, value: eu}]
      installHint: install it
      interactiveMode: IfAvailable
      provideClusterInfo: true
contexts:
- name: dev
  context: {cluster: home, user: alice, namespace: team}
- name: lab
  context: {cluster: lab, user: robot}
- name: cloud
  context: {cluster: home, user: cloud}
- name: nobody
  context: {cluster: lab, user: ""}
)";

Result<ClientConfig> resolved(const std::string& text, const std::string& context = "") {
  auto config = parseKubeconfig(text, "/etc/kube/config");
  if (!config) return pass(config.error());
  return resolveContext(*config, context);
}

TEST(Kubeconfig, resolvesACertificateContext) {
  auto config = resolved(kGood);
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->server, "https://10.0.0.1:6443/prefix");
  EXPECT_EQ(config->ns, "team");
  EXPECT_EQ(config->ca.data, "ca-pem");
  EXPECT_EQ(config->tlsServerName, "api.home");
  EXPECT_EQ(config->clientCertificate.path, "/etc/kube/pki/alice.crt");
  EXPECT_EQ(config->clientKey.data, "key");
  EXPECT_EQ(config->impersonate, "bob");
  EXPECT_EQ(config->impersonateUid, "u1");
  EXPECT_EQ(config->impersonateGroups, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(config->impersonateExtra.size(), 1u);
  EXPECT_EQ(config->impersonateExtra[0].second, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(config->source, "kubeconfig /etc/kube/config, context 'dev'");
}

TEST(Kubeconfig, resolvesTokensExecPluginsAndAnonymous) {
  auto lab = resolved(kGood, "lab");
  ASSERT_TRUE(lab) << lab.error().text();
  EXPECT_EQ(lab->token, "12345") << "an unquoted number is a token too";
  EXPECT_EQ(lab->ns, "default");
  auto cloud = resolved(kGood, "cloud");
  ASSERT_TRUE(cloud) << cloud.error().text();
  ASSERT_TRUE(cloud->exec);
  EXPECT_EQ(cloud->exec->command, "/etc/kube/bin/get-token");
  EXPECT_EQ(cloud->exec->args, (std::vector<std::string>{"--cluster", "home"}));
  EXPECT_EQ(cloud->exec->env[0].second, "eu");
  EXPECT_TRUE(cloud->exec->provideClusterInfo);
  EXPECT_EQ(cloud->execConfig, R"({"audience":"me"})");
  auto nobody = resolved(kGood, "nobody");
  ASSERT_TRUE(nobody);
  EXPECT_TRUE(nobody->token.empty());
}

// A minimal file with one cluster and one user.
std::string with(const std::string& cluster, const std::string& user,
                 const std::string& context = "cluster: c, user: u") {
  return "current-context: x\ncontexts: [{name: x, context: {" + context +
         "}}]\nclusters: [{name: c, cluster: {" + cluster + "}}]\nusers: [{name: u, user: {" +
         user + "}}]\n";
}

struct BadCase {
  std::string text;
  std::string wanted;  // part of the message
};

TEST(Kubeconfig, saysWhatIsWrongAndWhere) {
  const std::string server = "server: 'https://s'";
  const std::vector<BadCase> cases = {
      {"kind: Pod", "kind is 'Pod', want 'Config'"},
      {"apiVersion: v2", "apiVersion is 'v2', want 'v1'"},
      {"[1, 2]", "want a mapping with clusters, users, contexts"},
      {"a: b\n---\nc: d", "2 documents, want one"},
      {"clusters: 5", "'clusters' is 5, want a list"},
      {"clusters: [{cluster: {}}]", "clusters: an entry without 'name'"},
      {"clusters: [{name: a, cluster: {server: [x]}}]",
       "cluster 'a': 'server' is [\"x\"], want a string"},
      {"users: [{name: a, user: {as-groups: x}}]", "user 'a': 'as-groups' is \"x\", want a list"},
      {"users: [{name: a, user: {exec: {args: [1]}}}]",
       "user 'a' exec: 'args' is 1, want a list of strings"},
      {"contexts: []", "'current-context' is not set; set it or give --context"},
      {"current-context: dve\ncontexts: [{name: dev, context: {}}]",
       "no context named 'dve', did you mean 'dev'? (known: dev)"},
      {with("", ""), "context 'x': cluster 'c': 'server' is missing"},
      {with(server, "", "cluster: d, user: u"), "context 'x': no cluster named 'd'"},
      {with(server, "", "cluster: c, user: v"), "context 'x': no user named 'v'"},
      {with(server + ", proxy-url: 'http://p'", ""), "proxy-url 'http://p' is not supported"},
      {with(server + ", insecure-skip-tls-verify: yes please", ""), "want true or false"},
      {with(server + ", insecure-skip-tls-verify: true, certificate-authority: ca", ""),
       "exclude each other"},
      {with(server + ", certificate-authority-data: '%%'", ""), "certificate-authority-data"},
      {with(server, "auth-provider: {name: gcp}"), "auth-provider 'gcp' is not supported"},
      {with(server, "client-certificate: a"), "client-key is missing"},
      {with(server, "client-key: a"), "client-certificate is missing"},
      {with(server, "token: a, username: b"), "both a token and username/password"},
      {with(server, "as-groups: [a]"), "need 'as'"},
      {with(server, "exec: {command: x}"),
       "exec: apiVersion '', want client.authentication.k8s.io/v1"},
      {with(server, "exec: {apiVersion: client.authentication.k8s.io/v1}"), "'command' is missing"},
      {with(server,
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: "
            "Always}"),
       "needs a terminal"},
      {with(server,
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: No}"),
       "want a string"},
      {with(server, "token: a, exec: {apiVersion: client.authentication.k8s.io/v1, command: x}"),
       "exec together with a token"},
  };
  for (const auto& one : cases) {
    auto config = resolved(one.text);
    ASSERT_FALSE(config) << one.text;
    std::string text = config.error().text();
    EXPECT_NE(text.find(one.wanted), std::string::npos) << one.text << "\n  → " << text;
    EXPECT_NE(text.find("/etc/kube/config"), std::string::npos) << text;
  }
}

TEST(Kubeconfig, unknownKeysAndEmptyFilesAreFine) {
  EXPECT_TRUE(parseKubeconfig("", "f"));
  EXPECT_TRUE(parseKubeconfig("# nothing\n", "f"));
  EXPECT_TRUE(
      resolved(with("server: s, disable-compression: true, new-thing: {a: 1}", "other: 1")));
}

TEST(Kubeconfig, anAddressWithoutSchemeFollowsItsTlsSettings) {
  EXPECT_EQ(resolved(with("server: 'h:1'", ""))->server, "http://h:1");
  EXPECT_EQ(resolved(with("server: 'h:1', insecure-skip-tls-verify: true", ""))->server,
            "https://h:1");
}

TEST(Kubeconfig, theFirstFileThatNamesAThingWins) {
  auto a = *parseKubeconfig(
      "clusters: [{name: c, cluster: {server: 'http://first'}}]\nusers: [{name: u, user: {}}]",
      "/a/x");
  auto b = *parseKubeconfig(
      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
      "clusters: [{name: c, cluster: {server: 'http://second', tls-server-name: name}}]\n"
      "users: [{name: u, user: {token: t}}]",
      "/b/y");
  auto config = resolveContext(mergeKubeconfigs({a, b}));
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->server, "http://first");
  EXPECT_EQ(config->tlsServerName, "") << "entries are not mixed";
  EXPECT_EQ(config->token, "");
  EXPECT_EQ(config->source, "kubeconfig /a/x:/b/y, context 'x'");
}

class LookupTest : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(dir + "/" + name).parent_path());
    std::ofstream(dir + "/" + name) << text;
  }
  ConfigRequest request() {
    ConfigRequest out;
    out.surroundings.env = [this](const std::string& name) -> std::optional<std::string> {
      auto at = env.find(name);
      return at == env.end() ? std::nullopt : std::optional(at->second);
    };
    out.surroundings.serviceAccountDir = dir + "/sa";
    return out;
  }
  static std::string pointingTo(const std::string& server) {
    return with("server: '" + server + "'", "tokenFile: token");
  }
  TempFolder folder{"kubeconfig"};
  const std::string& dir = folder.path();
  std::map<std::string, std::string> env;
};

TEST_F(LookupTest, looksInTheOrderUsersExpect) {
  put("flag", pointingTo("http://flag"));
  put("listed", pointingTo("http://listed"));
  put(".kube/config", pointingTo("http://home"));
  put("sa/token", "t\n");
  put("sa/ca.crt", "ca");
  put("sa/namespace", "team\n");
  env["HOME"] = dir;
  EXPECT_EQ(loadClientConfig(request())->server, "http://home");
  env["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  env["KUBERNETES_SERVICE_PORT"] = "443";
  auto inside = loadClientConfig(request());
  ASSERT_TRUE(inside) << inside.error().text();
  EXPECT_EQ(inside->server, "https://10.96.0.1:443");
  EXPECT_EQ(inside->tokenFile, dir + "/sa/token");
  EXPECT_EQ(inside->ns, "team");
  EXPECT_EQ(*inside->ca.load(), "ca");
  env["KUBECONFIG"] = dir + "/absent:" + dir + "/listed";
  auto listed = loadClientConfig(request());
  EXPECT_EQ(listed->server, "http://listed");
  EXPECT_EQ(listed->tokenFile, dir + "/token");
  auto flagged = request();
  flagged.kubeconfig = dir + "/flag";
  EXPECT_EQ(loadClientConfig(flagged)->server, "http://flag");
  flagged.server = "https://other";
  EXPECT_EQ(loadClientConfig(flagged)->server, "https://other");
}

TEST_F(LookupTest, ipv6ServiceAddressesGetBrackets) {
  put("sa/token", "t");
  put("sa/ca.crt", "ca");
  env["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  env["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(inClusterConfig(request().surroundings)->server, "https://[fd00::1]:443");
}

TEST_F(LookupTest, saysWhereItLooked) {
  env["HOME"] = dir;
  auto none = loadClientConfig(request());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kNotFound);
  EXPECT_NE(none.error().text().find(dir + "/.kube/config does not exist"), std::string::npos);
  auto flagged = request();
  flagged.kubeconfig = dir + "/nope";
  EXPECT_NE(loadClientConfig(flagged).error().text().find("kubeconfig " + dir + "/nope"),
            std::string::npos);
  env["KUBECONFIG"] = "/x:/y";
  EXPECT_EQ(loadClientConfig(request()).error().text(),
            "$KUBECONFIG is '/x:/y' and none of its files exists");
  env.erase("KUBECONFIG");
  env["KUBERNETES_SERVICE_HOST"] = "h";
  env["KUBERNETES_SERVICE_PORT"] = "1";
  EXPECT_NE(loadClientConfig(request()).error().text().find("service account token"),
            std::string::npos);
}

TEST_F(LookupTest, anAddressAloneIsEnough) {
  env["HOME"] = dir;
  auto direct = request();
  direct.server = "localhost:8080";
  EXPECT_EQ(loadClientConfig(direct)->server, "http://localhost:8080");
}

}  // namespace
}  // namespace mangrove::client
