// A pod in a container runtime, against a runtime that runs nothing.
#include "runtime/cri/runtime_link.h"

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "runtime/cri/image_keeper.h"
#include "runtime/cri/testing/fake_runtime.h"
#include "runtime/node/pods/pod_prep.h"

namespace mangrove::runtime::cri {
namespace {

using std::chrono::seconds;

class RuntimeLinks : public ::testing::Test {
 protected:
  RuntimeLinks()
      : fake(folder.path() + "/cri.sock"),
        runtime(loop, realClock(), owner, folder.path() + "/cri.sock"),
        parts{runtime, owner, realClock(), loop, io} {}

  RuntimePlace place() {
    RuntimePlace out;
    out.uid = "u-1";
    out.runner = "/data";
    out.podDir = folder.path() + "/pod";
    out.logDir = folder.path() + "/logs";
    return out;
  }
  SandboxConfig config() {
    SandboxConfig out;
    out.name = "web";
    out.uid = "u-1";
    out.ns = "default";
    out.labels = {{kPodUid, "u-1"}, {kRunner, "/data"}};
    return out;
  }
  PodLink::Handler hearing() {
    return [this](Result<Message> message) {
      news.push_back(message ? std::string(message->word("event")) : "lost");
      if (message) last = std::move(message->body);
    };
  }
  BuiltContainer built(const char* name, int attempt) {
    BuiltContainer out;
    out.config.emplace();
    out.config->name = name;
    out.config->attempt = static_cast<uint32_t>(attempt);
    out.config->image = "sha256:x";
    return out;
  }
  // Until that many pieces of news have come.
  void await(size_t count) {
    while (news.size() < count) ASSERT_TRUE(owner.runOne(seconds(10))) << "no news";
  }
  std::unique_ptr<RuntimeLink> running() {
    auto link = RuntimeLink::run(parts, place(), config(), "", hearing());
    await(1);
    EXPECT_TRUE(link->start("main", built("main", 0)));
    await(2);
    return link;
  }
  size_t callsOf(const std::string& method) const {
    const auto calls = fake.calls();
    return static_cast<size_t>(std::count(calls.begin(), calls.end(), method));
  }

  TempFolder folder{"cri"};
  FakeRuntime fake;
  Mailbox owner;
  FdLoop loop;
  net::Loop io{1};
  Runtime runtime;
  RuntimeParts parts;
  std::vector<std::string> news;
  json::Object last;
};

TEST_F(RuntimeLinks, ASandboxAndItsContainersComeAndGo) {
  auto link = RuntimeLink::run(parts, place(), config(), "kata", hearing());
  await(1);
  EXPECT_EQ(news, (std::vector<std::string>{"state"}));
  EXPECT_EQ(last.at("ip").as_string(), "10.1.2.3");
  ASSERT_TRUE(link->start("main", built("main", 2)));
  await(2);
  EXPECT_EQ(news.back(), "started");
  fake.end("main", 3);  // no process to watch, so it is looked for
  await(3);
  EXPECT_EQ(news.back(), "exited");
  EXPECT_EQ(last.at("exitCode").as_int64(), 3);
  EXPECT_EQ(fake.containers(), 1u) << "the ended one is kept";
  ASSERT_TRUE(link->start("main", built("main", 3)));
  await(4);
  bool gone = false;
  link->quit([&] { gone = true; });
  while (!gone) ASSERT_TRUE(owner.runOne(seconds(10)));
  EXPECT_EQ(fake.sandboxes(), 0u);
  EXPECT_EQ(callsOf("RemoveContainer"), 1u) << "the first run, when the second had begun";
}

TEST_F(RuntimeLinks, ALaterRunnerFindsThem) {
  ASSERT_TRUE(writeFileAtomically(folder.path() + "/message", "", {}));
  {
    auto link = running();
    fake.end("main", 1);
    await(3);
  }
  news.clear();
  auto link = RuntimeLink::adopt(parts, place(), config(), hearing());
  await(1);
  EXPECT_EQ(news, (std::vector<std::string>{"state"}));
  const auto& containers = last.at("containers").as_array();
  ASSERT_EQ(containers.size(), 1u);
  EXPECT_EQ(containers[0].as_object().at("exitCode").as_int64(), 1);
  EXPECT_FALSE(containers[0].as_object().at("running").as_bool());
}

TEST_F(RuntimeLinks, NothingIsThereToBeFound) {
  auto link = RuntimeLink::adopt(parts, place(), config(), hearing());
  await(1);
  EXPECT_EQ(news, (std::vector<std::string>{"absent"}));
}

TEST_F(RuntimeLinks, RefusalsAreTold) {
  auto link = RuntimeLink::run(parts, place(), config(), "", hearing());
  await(1);
  fake.refuse("CreateContainer", "no such mount");
  ASSERT_TRUE(link->start("main", built("main", 0)));
  await(2);
  EXPECT_EQ(news.back(), "refused");
  EXPECT_EQ(last.at("trouble").as_string(), "no such mount");
  fake.refuse("CreateContainer", "");
  fake.refuse("StartContainer", "exec: not found");
  ASSERT_TRUE(link->start("main", built("main", 0)));
  await(3);
  EXPECT_EQ(news.back(), "failed");
  EXPECT_EQ(last.at("trouble").as_string(), "exec: not found");
  fake.refuse("RunPodSandbox", "no network");
  auto other = RuntimeLink::run(parts, place(), config(), "", hearing());
  await(4);
  EXPECT_EQ(news.back(), "lost");
}

TEST_F(RuntimeLinks, ContainersAreToldToEnd) {
  auto link = running();
  link->signal("main", SIGTERM, seconds(7));
  await(3);
  EXPECT_EQ(news.back(), "exited");
  EXPECT_EQ(last.at("exitCode").as_int64(), 143);
  EXPECT_EQ(fake.said("StopContainer"), writeStopContainer("container-2", 7));
  // One that is told before it has begun ends when it has.
  ASSERT_TRUE(link->start("main", built("main", 1)));
  link->signal("main", SIGKILL, seconds(0));
  await(5);
  EXPECT_EQ(news.back(), "exited");
}

TEST_F(RuntimeLinks, CommandsLeaveTheirOutput) {
  auto link = running();
  UniqueFd output(::memfd_create("output", MFD_CLOEXEC));
  ASSERT_TRUE(link->exec({"e1", "main", {"true"}, false, seconds(1)},
                         {output.get(), output.get(), output.get()}));
  await(3);
  EXPECT_EQ(news.back(), "execExited");
  EXPECT_EQ(last.at("exitCode").as_int64(), 7);
  char text[16] = {};
  EXPECT_EQ(::pread(output.get(), text, sizeof text, 0), 6);
  EXPECT_STREQ(text, "outerr");
  EXPECT_FALSE(link->exec({"e2", "other", {"true"}, false, seconds(1)}, {}));
}

TEST_F(RuntimeLinks, SandboxesOfOthersAreLeftAlone) {
  auto link = running();
  RuntimePlace theirs = place();
  theirs.runner = "/other";
  bool gone = false;
  removeSandboxes(runtime, {{kPodUid, "u-1"}, {kRunner, "/other"}}, [&] { gone = true; });
  while (!gone) ASSERT_TRUE(owner.runOne(seconds(10)));
  EXPECT_EQ(fake.sandboxes(), 1u);
}

class Images : public RuntimeLinks {
 protected:
  HeldImage ensure(const std::string& image, const std::string& policy,
                   std::vector<PullSecret> secrets = {}) {
    std::optional<HeldImage> held;
    keeper.ensure(
        {image, policy},
        [secrets](UniqueFn<void(std::vector<PullSecret>)> answer) { answer(secrets); },
        [this](const ImageNews& one) { events.push_back(one.reason); },
        [&](HeldImage one) { held = std::move(one); });
    while (!held) EXPECT_TRUE(owner.runOne(seconds(10)));
    return *held;
  }
  ImageKeeper keeper{runtime, realClock(), owner};
  std::vector<std::string> events;
};

TEST_F(Images, AreFetchedByPolicy) {
  fake.addImage("there:1");
  EXPECT_EQ(ensure("there:1", "IfNotPresent").ref, "sha256:there:1");
  EXPECT_EQ(events, (std::vector<std::string>{"Pulled"}));
  EXPECT_EQ(callsOf("PullImage"), 0u);
  EXPECT_EQ(ensure("there:1", "Always").ref, "sha256:there:1");
  EXPECT_EQ(events, (std::vector<std::string>{"Pulled", "Pulling", "Pulled"}));
  EXPECT_EQ(ensure("absent", "Never").reason, "ErrImageNeverPull");
  EXPECT_EQ(ensure("absent", "IfNotPresent").ref, "sha256:absent:latest");
  EXPECT_EQ(ensure("UPPER", "Always").reason, "InvalidImageName");
}

TEST_F(Images, AreAskedForWithEachSecretInTurn) {
  fake.refusePull("r.local/x:1", "denied");
  const auto held = ensure("r.local/x:1", "Always",
                           {{"a", R"({"auths":{"r.local":{"username":"u","password":"p"}}})"},
                            {"b", R"({"auths":{"r.local/x":{"username":"v","password":"q"}}})"}});
  EXPECT_EQ(held.reason, "ErrImagePull");
  EXPECT_EQ(held.message, "denied");
  EXPECT_EQ(callsOf("PullImage"), 2u);
  EXPECT_NE(fake.said("PullImage").find("u"), std::string::npos);
  EXPECT_EQ(events.back(), "Failed");
}

}  // namespace
}  // namespace mangrove::runtime::cri
