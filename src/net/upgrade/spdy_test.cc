#include "net/test_support.h"
#include "net/upgrade/spdy_session.h"
#include "net/upgrade/spdy_wire.h"

namespace mangrove::net::testing {
namespace {

TEST(SpdyWire, HeadersSurviveTheSharedCompressor) {
  SpdyWriter writer;
  SpdyReader reader;
  for (uint32_t id : {1u, 3u, 5u}) {
    Headers headers{{"streamtype", "data"}, {"port", std::to_string(8000 + id)}};
    reader.add(writer.synStream(id, headers, id == 5));
    auto frame = reader.next();
    ASSERT_TRUE(frame) << reader.error().value_or("");
    EXPECT_EQ(frame->type, SpdyFrame::Type::kSynStream);
    EXPECT_EQ(frame->stream, id);
    EXPECT_EQ(frame->fin, id == 5);
    EXPECT_EQ(frame->headers.get("port"), std::to_string(8000 + id));
  }
}

TEST(SpdyWire, RefusesGarbage) {
  for (std::string_view bytes :
       {std::string_view("\x80\x03\x00\x01\x00\x00\x00\x0c\0\0\0\1\0\0\0\0\0\0zz", 20),
        std::string_view("\x80\x02\x00\x01\x00\x00\x00\x00", 8),
        std::string_view("\x00\x00\x00\x01\x00\xff\xff\xff", 8)}) {
    SpdyReader reader;
    reader.add(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.error());
  }
}

// A connection in memory: the test writes what the client says and reads what it is told.
class Pipe final : public ByteStream {
 public:
  struct Shared {
    std::mutex mutex;
    std::string toServer, fromServer;
    ReadDone reader;
    bool finished = false;
  };
  explicit Pipe(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void read(ReadDone done) override {
    std::string now;
    {
      std::lock_guard lock(shared_->mutex);
      now.swap(shared_->toServer);
      if (now.empty()) shared_->reader = std::move(done);
    }
    if (!now.empty()) done(std::move(now));
  }
  void write(std::string data, WriteDone done) override {
    {
      std::lock_guard lock(shared_->mutex);
      shared_->fromServer += data;
    }
    if (done) done({});
  }
  void finish() override { shared_->finished = true; }
  void close() override { shared_->finished = true; }

 private:
  std::shared_ptr<Shared> shared_;
};

class SpdySessionTest : public ::testing::Test {
 protected:
  SpdySessionTest()
      : session_(SpdySession::start(
            std::make_unique<Pipe>(shared_),
            [this](std::shared_ptr<SpdyStream> stream) { streams_.push_back(std::move(stream)); },
            [this] { ended_ = true; })) {}
  void say(std::string bytes) {
    ByteStream::ReadDone reader;
    {
      std::lock_guard lock(shared_->mutex);
      if (!shared_->reader) {
        shared_->toServer += bytes;
        return;
      }
      reader = std::exchange(shared_->reader, nullptr);
    }
    reader(std::move(bytes));
  }
  std::optional<SpdyFrame> hear() {
    reader_.add(std::exchange(shared_->fromServer, {}));
    return reader_.next();
  }

  std::shared_ptr<Pipe::Shared> shared_ = std::make_shared<Pipe::Shared>();
  std::vector<std::shared_ptr<SpdyStream>> streams_;
  bool ended_ = false;
  SpdyWriter writer_;
  SpdyReader reader_;
  std::unique_ptr<SpdySession> session_;
};

TEST_F(SpdySessionTest, CarriesStreamsBothWays) {
  say(writer_.synStream(1, {{"streamtype", "error"}}, true));
  say(writer_.synStream(3, {{"streamtype", "data"}}, false));
  ASSERT_EQ(streams_.size(), 2u);
  EXPECT_EQ(hear()->type, SpdyFrame::Type::kSynReply);
  EXPECT_EQ(hear()->stream, 3u);
  say(SpdyWriter::data(3, "GET /", false));
  std::string got;
  streams_[1]->read([&](Result<std::string> r) { got = *r; });
  EXPECT_EQ(got, "GET /");
  streams_[1]->write("200 OK", {});
  auto answer = hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->data, "200 OK");
  bool end = false;
  streams_[1]->read([&](Result<std::string> r) { end = r && r->empty(); });
  say(SpdyWriter::data(3, "", true));
  EXPECT_TRUE(end);
  streams_[1]->finish();
  EXPECT_TRUE(hear()->fin);
  streams_.clear();
  auto reset = hear();  // of stream 1, which we never finished
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->type, SpdyFrame::Type::kReset);
  EXPECT_EQ(reset->stream, 1u);
}

TEST_F(SpdySessionTest, AnswersPingsAndTellsStreamsOfTheEnd) {
  say(SpdyWriter::ping(7));
  auto pong = hear();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->type, SpdyFrame::Type::kPing);
  EXPECT_EQ(pong->stream, 7u);
  say(writer_.synStream(1, {}, false));
  ASSERT_EQ(streams_.size(), 1u);
  bool failed = false;
  streams_[0]->read([&](Result<std::string> r) { failed = !r; });
  say("");  // the client is gone
  EXPECT_TRUE(failed);
  EXPECT_TRUE(ended_);
  bool refused = false;
  streams_[0]->write("x", [&](Result<> r) { refused = !r; });
  EXPECT_TRUE(refused);
}

TEST_F(SpdySessionTest, StreamNobodyReadsStopsTheConnection) {
  say(writer_.synStream(1, {}, false));
  for (int i = 0; i < 64; ++i) say(SpdyWriter::data(1, std::string(32 * 1024, 'a'), false));
  EXPECT_FALSE(shared_->reader);
  EXPECT_GT(shared_->toServer.size(), 1024u * 1024);
  size_t total = 0;
  bool more = true;
  while (more && total < 64u * 32 * 1024) {
    more = false;
    streams_[0]->read([&](Result<std::string> r) {
      total += r->size();
      more = true;
    });
  }
  EXPECT_EQ(total, 64u * 32 * 1024);
}

TEST_F(SpdySessionTest, RefusesStreamsOutOfOrder) {
  say(writer_.synStream(3, {}, false));
  hear();
  say(writer_.synStream(1, {}, false));
  auto refused = hear();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->type, SpdyFrame::Type::kReset);
  EXPECT_EQ(streams_.size(), 1u);
}

}  // namespace
}  // namespace mangrove::net::testing
