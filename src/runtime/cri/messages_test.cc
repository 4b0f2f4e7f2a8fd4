// CRI messages: names of images, credentials, what is written and read, garbage.
#include "runtime/cri/messages.h"

#include <gtest/gtest.h>

#include "base/text/encoding.h"
#include "base/text/proto_wire.h"
#include "runtime/cri/credentials.h"
#include "runtime/cri/image_gc.h"
#include "runtime/cri/image_name.h"
#include "runtime/cri/remote_session.h"
#include "runtime/cri/runtime_link.h"

namespace mangrove::runtime::cri {
namespace {

using std::chrono::minutes;

TEST(ImageNames, GetTheirTag) {
  const std::pair<const char*, const char*> rows[] = {
      {"nginx", "nginx:latest"},
      {"nginx:1.25", "nginx:1.25"},
      {"127.0.0.1:5000/team/web", "127.0.0.1:5000/team/web:latest"},
      {"registry.local/a__b/c-d:T_1.0", "registry.local/a__b/c-d:T_1.0"},
      {"x@sha256:0123456789abcdef0123456789abcdef", "x@sha256:0123456789abcdef0123456789abcdef"},
  };
  for (const auto& [name, tagged] : rows)
    EXPECT_EQ(taggedImage(name).value_or("refused"), tagged) << name;
  for (const char* bad : {"", "Nginx", "a//b", "a/", "a:", "a:b c", "a@sha256:xyz", "a..b", "-a",
                          "host:99999/x", "a___b"})
    EXPECT_FALSE(taggedImage(bad)) << bad;
  EXPECT_NE(taggedImage("Nginx").error().text().find("\"Nginx\""), std::string::npos);
}

TEST(ImageNames, HaveAPlace) {
  EXPECT_EQ(placeOf("nginx"), "index.docker.io/library/nginx");
  EXPECT_EQ(placeOf("docker.io/me/x:1"), "index.docker.io/me/x");
  EXPECT_EQ(placeOf("me/x"), "index.docker.io/me/x");
  EXPECT_EQ(placeOf("localhost/x:1"), "localhost/x");
  EXPECT_EQ(placeOf("r.io:5000/a/b@sha256:00"), "r.io:5000/a/b");
}

TEST(ImageNames, ArePulledByPolicy) {
  EXPECT_EQ(wishOf("Always", true), PullWish::kPull);
  EXPECT_EQ(wishOf("IfNotPresent", true), PullWish::kUse);
  EXPECT_EQ(wishOf("IfNotPresent", false), PullWish::kPull);
  EXPECT_EQ(wishOf("Never", true), PullWish::kUse);
  EXPECT_EQ(wishOf("Never", false), PullWish::kNever);
}

TEST(Credentials, AreTheMostSpecificFirst) {
  const std::string both = base64Encode("joe:se:cret");
  const std::vector<PullSecret> secrets = {
      {"a", R"({"auths":{"https://registry.local/v1/":{"username":"u","password":"p"},)"
            R"("registry.local/team":{"auth":")" +
                both + R"("}}})"},
      {"b", R"({"*.example.com":{"identitytoken":"t"}})"},
      {"c", "no json"}};
  std::vector<std::string> troubles;
  auto found = credentialsFor("registry.local/team/web:1", secrets, &troubles);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].username, "joe");
  EXPECT_EQ(found[0].password, "se:cret");
  EXPECT_EQ(found[1].username, "u");
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_NE(troubles[0].find("pull secret c"), std::string::npos);
  EXPECT_EQ(credentialsFor("registry.local/teams/web", secrets).size(), 1u);
  EXPECT_EQ(credentialsFor("eu.example.com/x", secrets)[0].identityToken, "t");
  EXPECT_TRUE(credentialsFor("a.b.example.com/x", secrets).empty());
  EXPECT_TRUE(credentialsFor("registry.local:5000/team/web", secrets).empty());
  EXPECT_TRUE(credentialsFor("nginx", secrets).empty());
}

Image image(const char* id, int64_t size) {
  Image out;
  out.id = id;
  out.size = Bytes{size};
  return out;
}

TEST(ImageGarbage, GoesOldestFirstUntilThereIsRoom) {
  ImageGc gc;
  MonoTime now{};
  const std::vector<Image> images = {image("old", 4), image("used", 50), image("new", 3),
                                     image("older", 4)};
  gc.saw(images, {"old", "used", "new"}, now);
  gc.saw(images, {"used", "new", "old"}, now + minutes(5));
  gc.saw(images, {"used", "new"}, now + minutes(9));
  now += minutes(20);
  const DiskRoom full{Bytes{100}, Bytes{12}}, fine{Bytes{100}, Bytes{20}};
  EXPECT_TRUE(gc.toRemove(images, {"used"}, fine, now).empty());
  EXPECT_EQ(gc.toRemove(images, {"used"}, full, now), (std::vector<std::string>{"older", "old"}));
  // What came or was used a moment ago stays, and so does what is pinned or unknown.
  EXPECT_TRUE(gc.toRemove({image("fresh", 90)}, {}, full, now).empty());
  auto pinned = image("older", 4);
  pinned.pinned = true;
  EXPECT_TRUE(gc.toRemove({pinned}, {}, full, now).empty());
  EXPECT_TRUE(gc.toRemove(images, {}, {Bytes{0}, Bytes{0}}, now).empty());
}

TEST(CriMessages, WriteWhatARuntimeReads) {
  SandboxConfig pod;
  pod.name = "web";
  pod.uid = "u-1";
  pod.ns = "default";
  pod.cgroupParent = "/kubepods/podu-1";
  pod.labels = {{"a", "b"}};
  pod.namespaces.network = NamespaceMode::kNode;
  const std::string written = writeRunSandbox(pod, "kata");
  // {1: {1: {1: web, 2: u-1, 3: default}, 6: {a: b}, 8: {1: parent, 2: {1: {1: NODE, 2: CONTAINER}}}}}
  ProtoReader in(written);
  const auto config = in.next();
  ASSERT_TRUE(config);
  EXPECT_NE(config->bytes.find("/kubepods/podu-1"), std::string_view::npos);
  EXPECT_NE(config->bytes.find(std::string("\x08\x02\x10\x01", 4)), std::string_view::npos);
  EXPECT_EQ(in.next()->bytes, "kata");

  ContainerConfig container;
  container.name = "main";
  container.command = {"sh", ""};
  container.user = 0;
  const std::string create = writeCreateContainer("s1", container, pod);
  // An empty argument and user 0 are said, not left out.
  EXPECT_NE(create.find(std::string("\x1a\x02sh\x1a\x00", 6)), std::string::npos);
  EXPECT_NE(create.find(std::string("\x2a\x00", 2)), std::string::npos);
}

TEST(CriMessages, ReadWhatARuntimeWrites) {
  const std::string status =
      ProtoWriter()
          .message(1, ProtoWriter()
                          .text(1, "c1")
                          .message(2, ProtoWriter().text(1, "main").number(2, 3).bytes())
                          .number(3, 2)
                          .number(5, 5'000'000'000)
                          .number(6, 6'500'000'000)
                          .number(7, 137)
                          .text(10, "OOMKilled")
                          .bytes())
          .message(2, ProtoWriter().text(1, "info").text(2, R"({"pid":4711})").bytes())
          .bytes();
  auto read = readContainerStatus(status);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "main");
  EXPECT_EQ(read->attempt, 3u);
  EXPECT_EQ(read->state, ContainerState::kExited);
  EXPECT_EQ(pidIn(read->info), 4711);
  const json::Object state = stateOf(*read, "bye");
  EXPECT_EQ(state.at("exitCode").as_int64(), 137);
  EXPECT_TRUE(state.at("oom").as_bool());
  EXPECT_EQ(state.at("message").as_string(), "bye");
  EXPECT_EQ(state.at("startedAt").as_string(), "1970-01-01T00:00:05.000000Z");
  for (size_t cut = 0; cut < status.size(); ++cut) (void)readContainerStatus(status.substr(0, cut));
  EXPECT_FALSE(readContainerStatus("\xff\xff"));
  EXPECT_EQ(pidIn({{"info", "no json"}}), 0);
}

TEST(RemoteCommands, EndAsTheirStatusSays) {
  EXPECT_EQ(endOf("").exitCode, 0);
  EXPECT_EQ(endOf(R"({"status":"Success"})").exitCode, 0);
  EXPECT_EQ(endOf(R"({"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[)"
                  R"({"reason":"ExitCode","message":"3"}]}})")
                .exitCode,
            3);
  const auto broken = endOf(R"({"status":"Failure","message":"no such file"})");
  EXPECT_FALSE(broken.exitCode);
  EXPECT_EQ(broken.sentence, "no such file");
  EXPECT_EQ(endOf("what").sentence, "what");
}

}  // namespace
}  // namespace mangrove::runtime::cri
