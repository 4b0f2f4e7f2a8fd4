// Kubernetes' own examples of pods that keep to a level and of pods that break it, for every
// version it has (the module k8s.io/pod-security-admission), and the edges they leave out.
#include "apiserver/pod_security/levels.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "apiserver/core/object.h"
#include "base/os/files.h"
#include "json/yaml.h"

namespace mangrove::apiserver::pod_security {
namespace {

namespace fs = std::filesystem;

// Where the module lies, fetched if need be; "": it cannot be had.
std::string fixtures() {
  if (const char* given = std::getenv("MANGROVE_POD_SECURITY_FIXTURES")) return given;
  const char* command =
      "cd / && go mod download -json k8s.io/pod-security-admission@v0.35.4 2>/dev/null";
  std::string text;
  std::FILE* pipe = ::popen(command, "r");
  if (!pipe) return "";
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  ::pclose(pipe);
  auto answer = json::parse(text);
  if (!answer || !answer->is_object()) return "";
  const std::string dir(textAt(answer->get_object(), "Dir"));
  return dir.empty() ? "" : dir + "/test/testdata";
}

void checkFile(const fs::path& file, const LevelVersion& level, bool passes) {
  auto text = readFile(file);
  ASSERT_TRUE(text) << file;
  auto documents = json::parseYaml(*text, file.string());
  ASSERT_TRUE(documents) << documents.error().text();
  const json::Object& pod = documents->front().value.get_object();
  const auto broken = violations(level, metadataOf(pod), *findObject(pod, "spec"));
  EXPECT_EQ(broken.empty(), passes) << file << " at " << level.text() << ": " << describe(broken);
}

TEST(PodSecurityLevels, AgreeWithKubernetesOwnFixtures) {
  const std::string dir = fixtures();
  if (dir.empty()) GTEST_SKIP() << "the Go module k8s.io/pod-security-admission cannot be fetched";
  size_t seen = 0;
  for (auto level : {Level::kBaseline, Level::kRestricted}) {
    for (const auto& version : fs::directory_iterator(fs::path(dir) / levelName(level))) {
      const auto minor = parseVersion(version.path().filename().string());
      ASSERT_TRUE(minor) << version.path();
      for (const char* kind : {"pass", "fail"})
        for (const auto& file : fs::directory_iterator(version.path() / kind)) {
          checkFile(file.path(), {level, *minor}, std::string_view(kind) == "pass");
          ++seen;
        }
    }
  }
  EXPECT_GT(seen, 3000u);
}

json::Value pod(std::string_view text) {
  return *json::parse(text);
}

std::string told(Level level, std::string_view text) {
  const json::Value value = pod(text);
  const json::Object& object = value.get_object();
  return describe(violations({level}, metadataOf(object), *findObject(object, "spec")));
}

TEST(PodSecurityLevels, NameWhoBreaksWhat) {
  EXPECT_EQ(told(Level::kBaseline, R"({"metadata":{},"spec":{"hostNetwork":true,"hostPID":true,
              "containers":[{"name":"a","securityContext":{"privileged":true}},{"name":"b",
              "ports":[{"containerPort":1,"hostPort":80}]}]}})"),
            "host namespaces (hostNetwork=true, hostPID=true), hostPort (container \"b\" uses "
            "hostPort 80), privileged (container \"a\" must not set "
            "securityContext.privileged=true)");
  EXPECT_EQ(told(Level::kPrivileged, R"({"metadata":{},"spec":{"hostNetwork":true}})"), "");
}

TEST(PodSecurityLevels, CountACallersPodAsPrivileged) {
  const char* text =
      R"({"metadata":{"annotations":{"mangrove.io/caller-environment":"/tmp/e"}},"spec":{}})";
  EXPECT_NE(told(Level::kBaseline, text).find("files of the machine"), std::string::npos);
}

TEST(PodSecurityLevels, ReadTheirNames) {
  EXPECT_EQ(parseVersion("latest"), kLatest);
  EXPECT_EQ(parseVersion("v1.30"), 30);
  for (auto wrong : {"", "1.30", "v1", "v1.", "v1.x", "v2.0", "v1.03", "v1.-1"})
    EXPECT_FALSE(parseVersion(wrong)) << wrong;
  EXPECT_FALSE(parseLevel("Baseline"));
}

}  // namespace
}  // namespace mangrove::apiserver::pod_security
