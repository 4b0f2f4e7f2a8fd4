#include "apiserver/subresources/node_target.h"

#include <gtest/gtest.h>

#include "apiserver/subresources/channel_session.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {
namespace {

RequestInfo request(std::string part) {
  return *parseRequest("GET", "/api/v1/namespaces/default/pods/web/" + part);
}

json::Object pod(std::string_view spec) {
  auto text = fmt::format(R"({{"metadata":{{"uid":"u1"}},"spec":{}}})", spec);
  return json::parse(text)->as_object();
}

TEST(NodeTarget, ChoosesTheContainer) {
  const auto two = pod(R"({"nodeName":"n","containers":[{"name":"a"},{"name":"b"}],
                           "initContainers":[{"name":"i"}]})");
  struct Row {
    const char* part;
    const char* want;  // the container, or a piece of the refusal
  } rows[] = {
      {"log?container=b", "b"},
      {"log?container=i", "i"},
      {"log", "choose one of: [a b] or one of the init containers: [i]"},
      {"exec?container=x", "container x is not valid for pod web"},
      {"portforward", ""},
  };
  for (const auto& row : rows) {
    auto target = containerTarget(request(row.part), two);
    if (target) {
      EXPECT_EQ(target->container, row.want) << row.part;
      EXPECT_EQ(target->uid, "u1");
    } else {
      EXPECT_EQ(target.error().status, 400);
      EXPECT_NE(target.error().body.find(row.want), std::string::npos) << target.error().body;
    }
  }
  EXPECT_EQ(containerTarget(request("log"), pod(R"({"nodeName":"n","containers":[{"name":"a"}]})"))
                ->container,
            "a");
  EXPECT_FALSE(containerTarget(request("log"), pod(R"({"containers":[{"name":"a"}]})")));
}

TEST(NodeTarget, ReadsLogOptions) {
  const WallTime now = *parseTime("2026-03-01T12:00:00Z");
  auto options = logOptions(
      request(
          "log?follow=true&tailLines=5&sinceSeconds=60&timestamps=true&previous=1&limitBytes=9"),
      now);
  ASSERT_TRUE(options) << options.error().body;
  EXPECT_TRUE(options->follow && options->timestamps && options->previous);
  EXPECT_EQ(options->tailLines, 5);
  EXPECT_EQ(options->limit, Bytes{9});
  EXPECT_EQ(formatTime(*options->since), "2026-03-01T11:59:00Z");
  EXPECT_EQ(formatTime(*logOptions(request("log?sinceTime=2026-02-01T00:00:00Z"), now)->since),
            "2026-02-01T00:00:00Z");
  for (const char* bad : {"log?tailLines=-1", "log?tailLines=x", "log?limitBytes=0",
                          "log?sinceSeconds=0", "log?sinceTime=yesterday",
                          "log?sinceSeconds=1&sinceTime=2026-02-01T00:00:00Z", "log?stream=both"})
    EXPECT_FALSE(logOptions(request(bad), now)) << bad;
}

TEST(NodeTarget, ReadsSessionOptions) {
  auto exec = sessionOptions(
      request("exec?command=sh&command=-c&command=a+b&stdin=true&stdout=true&stderr=true"), false);
  ASSERT_TRUE(exec);
  EXPECT_EQ(exec->command, (std::vector<std::string>{"sh", "-c", "a b"}));
  EXPECT_TRUE(exec->in && exec->out && exec->err && !exec->tty);
  auto tty = sessionOptions(request("exec?command=sh&stdout=true&stderr=true&tty=true"), false);
  EXPECT_TRUE(tty->tty && !tty->err && !tty->in);
  EXPECT_FALSE(sessionOptions(request("exec?stdout=true"), false));
  EXPECT_FALSE(sessionOptions(request("exec?command=sh"), false));
  EXPECT_TRUE(sessionOptions(request("attach"), true)->out);
}

TEST(NodeTarget, ReadsPorts) {
  EXPECT_EQ(*forwardPorts(request("portforward?ports=80,443&ports=53")),
            (std::vector<uint16_t>{80, 443, 53}));
  EXPECT_FALSE(forwardPorts(request("portforward?ports=0")));
  EXPECT_FALSE(forwardPorts(request("portforward?ports=70000")));
}

TEST(ChannelSession, ReadsMessages) {
  using Kind = frame::SessionInput::Kind;
  EXPECT_EQ(readChannelMessage(std::string_view("\0abc", 4)).data, "abc");
  auto resize = readChannelMessage("\4{\"Width\":120,\"Height\":40}");
  EXPECT_EQ(resize.kind, Kind::kResize);
  EXPECT_EQ(resize.columns, 120);
  EXPECT_EQ(resize.rows, 40);
  EXPECT_EQ(readChannelMessage(std::string_view("\xff\0", 2)).kind, Kind::kEndOfInput);
  for (std::string_view nothing :
       {std::string_view(), std::string_view("\xff\1", 2), std::string_view("\7x"),
        std::string_view("\4no json"), std::string_view("\1out")}) {
    EXPECT_EQ(readChannelMessage(nothing).kind, Kind::kData);
    EXPECT_EQ(readChannelMessage(nothing).data, "");
  }
}

TEST(ChannelSession, SaysHowItEnded) {
  EXPECT_NE(sessionStatus({0, ""}).find(R"("status":"Success")"), std::string::npos);
  const std::string three = sessionStatus({3, ""});
  EXPECT_NE(three.find(R"("reason":"NonZeroExitCode")"), std::string::npos);
  EXPECT_NE(three.find(R"("causes":[{"reason":"ExitCode","message":"3"}])"), std::string::npos);
  EXPECT_NE(sessionStatus({std::nullopt, "no such file"}).find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::apiserver
