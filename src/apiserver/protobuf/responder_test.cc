#include "apiserver/protobuf/responder.h"

#include <gtest/gtest.h>

#include "apiserver/protobuf/envelope.h"

namespace mangrove::apiserver::protobuf {
namespace {

struct Sent {
  Answer answer;
  std::string streamed;
};

class Line final : public AnswerStream {
 public:
  explicit Line(Sent& sent) : sent_(sent) {}
  bool write(std::string bytes) override {
    sent_.streamed += bytes;
    return true;
  }
  Bytes queued() const override { return {}; }
  void onClosed(Fn) override {}
  void onDrained(Fn) override {}

 private:
  Sent& sent_;
};

class Recorder final : public Responder {
 public:
  explicit Recorder(Sent& sent) : sent_(sent) {}
  void answer(Answer answer) override { sent_.answer = std::move(answer); }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    sent_.answer = std::move(head);
    return std::make_unique<Line>(sent_);
  }

 private:
  Sent& sent_;
};

TEST(InProtobuf, TranslatesObjectsAndErrors) {
  Sent sent;
  const auto to = inProtobuf(std::make_shared<Recorder>(sent));
  to->answer(answer::notFound(*catalogue().find("", "v1", "Pod"), "web"));
  EXPECT_EQ(sent.answer.status, 404);
  EXPECT_EQ(sent.answer.contentType, kMediaType);
  auto status = fromProtobuf(sent.answer.body);
  ASSERT_TRUE(status.has_value()) << status.error().text();
  EXPECT_EQ(json::write(status->at("details")), R"({"name":"web","kind":"pods"})");
}

TEST(InProtobuf, LeavesAloneWhatProtobufCannotSay) {
  Sent sent;
  const auto to = inProtobuf(std::make_shared<Recorder>(sent));
  Answer text;
  text.contentType = "text/plain";
  text.body = "a log";
  for (const Answer& answer :
       {text, answer::json(200, R"({"kind":"Table","apiVersion":"meta.k8s.io/v1"})")}) {
    to->answer(answer);
    EXPECT_EQ(sent.answer.body, answer.body);
    EXPECT_EQ(sent.answer.contentType, answer.contentType);
  }
}

TEST(InProtobuf, LinesBecomeFrames) {
  Sent sent;
  const auto to = inProtobuf(std::make_shared<Recorder>(sent));
  Answer head;
  head.contentType = "application/json;stream=watch";
  auto stream = to->stream(head);
  EXPECT_EQ(sent.answer.contentType, "application/vnd.kubernetes.protobuf;stream=watch");
  const std::string line =
      R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}})";
  EXPECT_TRUE(stream->write(line + "\n" + line + "\n"));
  json::Doc doc;
  const std::string frame = *watchFrame(*doc.parse(line));
  EXPECT_EQ(sent.streamed, frame + frame);
}

TEST(InProtobuf, OtherStreamsPass) {
  Sent sent;
  Answer head;
  head.contentType = "text/plain";
  auto stream = inProtobuf(std::make_shared<Recorder>(sent))->stream(head);
  EXPECT_TRUE(stream->write("a line\n"));
  EXPECT_EQ(sent.streamed, "a line\n");
  EXPECT_EQ(sent.answer.contentType, "text/plain");
}

}  // namespace
}  // namespace mangrove::apiserver::protobuf
