// The network plugin: what it is told, what it answers, where it is put.
#include "runtime/cni/plugin.h"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "json/value.h"
#include "runtime/cni/install.h"

namespace mangrove::runtime {
namespace {

namespace fs = std::filesystem;

GetVariable variables(std::map<std::string, std::string> all) {
  return [all = std::move(all)](const char* name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string() : found->second;
  };
}

const std::map<std::string, std::string> kAdd = {
    {"CNI_COMMAND", "ADD"},
    {"CNI_NETNS", "/run/netns/x"},
    {"CNI_IFNAME", "eth0"},
    {"CNI_ARGS", "IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web;K8S_POD_UID=u-1"}};
constexpr std::string_view kConfiguration =
    R"({"cniVersion":"0.4.0","type":"mangrove-cni","bridge":"br","leases":"/l","mask":"255.255.0.0","gateway":"10.88.0.1"})";

TEST(Cni, ReadsWhatARuntimeSays) {
  auto call = readCni(variables(kAdd), kConfiguration);
  ASSERT_TRUE(call) << call.error().text();
  EXPECT_EQ(call->podUid, "u-1");
  EXPECT_EQ(call->podName, "ns/web");
  EXPECT_EQ(call->bridge, "br");
  EXPECT_FALSE(readCni(variables({}), kConfiguration));
  EXPECT_FALSE(readCni(variables(kAdd), "no json"));
  EXPECT_FALSE(readCni(variables(kAdd), "{}"));
  auto anonymous = kAdd;
  anonymous.erase("CNI_ARGS");
  EXPECT_FALSE(readCni(variables(anonymous), kConfiguration));
  EXPECT_TRUE(readCni(variables(anonymous), R"({"type":"loopback"})"));
}

TEST(Cni, AnswersAsTheSpecificationWants) {
  auto call = *readCni(variables(kAdd), kConfiguration);
  auto added = json::parse(cniAdded(call, "10.88.0.5", "0a:6d:0a:58:00:05"));
  const json::Object& ip = added->as_object().at("ips").as_array()[0].as_object();
  EXPECT_EQ(ip.at("address").as_string(), "10.88.0.5/16");
  EXPECT_EQ(ip.at("version").as_string(), "4");
  call.version = "1.0.0";
  added = json::parse(cniAdded(call, "10.88.0.5", "0a:6d:0a:58:00:05"));
  EXPECT_FALSE(added->as_object().at("ips").as_array()[0].as_object().contains("version"));
  std::string answer;
  EXPECT_EQ(runCni(variables({{"CNI_COMMAND", "VERSION"}}), "", answer), 0);
  EXPECT_NE(answer.find("\"1.0.0\""), std::string::npos);
  EXPECT_EQ(runCni(variables({{"CNI_COMMAND", "DANCE"}}), "{}", answer), 1);
  EXPECT_NE(answer.find("\"code\":4"), std::string::npos);
  EXPECT_EQ(runCni(variables({{"CNI_COMMAND", "DEL"}}), R"({"type":"loopback"})", answer), 0);
  EXPECT_EQ(answer, "");
}

TEST(Cni, FindsTheAddressOfItsPod) {
  TempFolder folder{"cni"};
  ASSERT_TRUE(writeFileAtomically(folder.path() + "/10.88.0.2", "u-0", {}));
  ASSERT_TRUE(writeFileAtomically(folder.path() + "/10.88.0.3", "u-1", {}));
  EXPECT_EQ(*leaseOf(folder.path(), "u-1"), "10.88.0.3");
  EXPECT_EQ(leaseOf(folder.path(), "u-2").error().code(), Code::kNotFound);
}

TEST(Cni, IsPutWhereNoOtherNetworkIs) {
  TempFolder folder{"cni"};
  const CniFolders folders{folder.path() + "/bin", folder.path() + "/net.d"};
  const CniOptions options{"br", "/l", "255.255.0.0", "10.88.0.1"};
  ASSERT_TRUE(installCni(folders, options, "/usr/bin/mangrove").value_or(false));
  EXPECT_NE(readFile(folders.programs + "/mangrove-cni")->find("'/usr/bin/mangrove' cni"),
            std::string::npos);
  EXPECT_TRUE(installCni(folders, options, "/usr/bin/mangrove").value_or(false)) << "again";
  removeCni(folders);
  EXPECT_TRUE(fs::is_empty(folders.configurations));
  EXPECT_TRUE(fs::is_empty(folders.programs));
  // Somebody else's stays.
  ASSERT_TRUE(writeFileAtomically(folders.configurations + "/10-flannel.conflist", "{}", {}));
  ASSERT_TRUE(writeFileAtomically(folders.programs + "/loopback", "binary", {}));
  EXPECT_FALSE(installCni(folders, options, "/usr/bin/mangrove").value_or(true));
  removeCni(folders);
  EXPECT_TRUE(fs::exists(folders.programs + "/loopback"));
}

}  // namespace
}  // namespace mangrove::runtime
