// log, exec, attach and portforward through real HTTP, WebSocket and SPDY, with a runner that only
// pretends.
#include "apiserver/subresources/node_parts.h"

#include <future>
#include <thread>

#include "apiserver/core/object.h"
#include "apiserver/core/test_server.h"
#include "apiserver/http_front.h"
#include "apiserver/subresources/proxy.h"
#include "apiserver/subresources/subresources.h"
#include "net/upgrade/spdy_wire.h"
#include "net/upgrade/web_socket_test_support.h"

namespace mangrove::apiserver {
namespace {

using net::WsOpcode;
using net::testing::openingRequest;
using net::testing::WsTestClient;

// Gives back what it is given in capitals, and ends with 3 at the end of input.
struct Shouter : std::enable_shared_from_this<Shouter> {
  explicit Shouter(std::unique_ptr<frame::Session> s) : session(std::move(s)) {}
  void next() {
    session->read([self = shared_from_this()](frame::SessionInput input) {
      using Kind = frame::SessionInput::Kind;
      if (input.kind == Kind::kGone) return;
      if (input.kind == Kind::kEndOfInput) return self->session->finish({3, ""});
      std::string out = input.kind == Kind::kResize ? std::to_string(input.columns) : input.data;
      for (char& c : out) c = static_cast<char>(std::toupper(c));
      self->session->write(frame::Session::Channel::kOut, out);
      self->next();
    });
  }
  std::unique_ptr<frame::Session> session;
};

struct EchoPort : std::enable_shared_from_this<EchoPort> {
  void next() {
    stream->read([self = shared_from_this()](Result<std::string> got) {
      if (!got || got->empty()) {
        self->stream->finish();
        if (self->ended) self->ended("");
        self->ended = nullptr;
        return;
      }
      self->stream->write("echo " + *got, {});
      self->next();
    });
  }
  std::unique_ptr<net::ByteStream> stream;
  UniqueFn<void(std::string)> ended;
};

class Pieces final : public frame::LogSource {
 public:
  void read(UniqueFn<void(Result<std::string>)> done) override {
    done(count_ == 3 ? std::string() : fmt::format("line {}\n", ++count_));
  }

 private:
  int count_ = 0;
};

class FakeRunner final : public frame::NodeRunner {
 public:
  void log(frame::ContainerTarget target, frame::LogOptions,
           UniqueFn<void(Result<std::unique_ptr<frame::LogSource>>)> ready) override {
    if (target.container == "b")
      return ready(invalid("container \"b\" in pod \"web\" is waiting to start: PodInitializing"));
    ready(std::make_unique<Pieces>());
  }
  void exec(frame::ContainerTarget, frame::SessionOptions,
            UniqueFn<void(Result<frame::SessionStart>)> ready) override {
    ready(frame::SessionStart([](std::unique_ptr<frame::Session> session) {
      std::make_shared<Shouter>(std::move(session))->next();
    }));
  }
  void attach(frame::ContainerTarget target, frame::SessionOptions options,
              UniqueFn<void(Result<frame::SessionStart>)> ready) override {
    exec(std::move(target), std::move(options), std::move(ready));
  }
  void forward(frame::ContainerTarget, UniqueFn<void(Result<frame::PortConnect>)> ready) override {
    ready(frame::PortConnect([](uint16_t port, std::unique_ptr<net::ByteStream> stream,
                                UniqueFn<void(std::string)> ended) {
      if (port == 81) return ended("connection refused");
      auto echo = std::make_shared<EchoPort>();
      echo->stream = std::move(stream);
      echo->ended = std::move(ended);
      echo->next();
    }));
  }
};

class NoCreate final : public Authorizer {
 public:
  Decision authorize(const Identity&, const Attributes& what) override {
    return {what.verb != "create" || what.subresource.empty(), ""};
  }
};

// Lets nobody in, and keeps what it was asked.
class NoConnect final : public AdmissionPlugin {
 public:
  explicit NoConnect(std::vector<std::string>& asked) : asked_(asked) {}
  std::string_view name() const override { return "NoConnect"; }
  void validate(AdmissionRequest& request, Done done) override {
    if (request.operation != Operation::kConnect) return done(std::nullopt);
    asked_.push_back(fmt::format("{} {} {}", request.name, request.subresource,
                                 textAt(request.object.get_object(), "kind")));
    done(answer::forbidden("closed"));
  }

 private:
  std::vector<std::string>& asked_;
};

const std::string kPod = "/api/v1/namespaces/default/pods/web";

class NodePartsTest : public testing::ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
    begin(authorizer_);
  }
  void begin(Authorizer& authorizer) {
    context_.emplace(
        Context{clock_, owner_, *store_, resources_, admission_, authorizer, metrics_, rng_});
    server_ = std::make_unique<Server>(*context_);
    serveSubresources(*server_, *context_, [this] { return &runner_; });
    ask("POST", "/api/v1/namespaces/default/pods",
        R"({"metadata":{"name":"web"},"spec":{"nodeName":"n1",
            "containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]}})");
  }
  void listen() {
    auto front = HttpFront::listen(loop_, {}, {owner_, *server_, [](auto&, auto&) {
                                                 return Outcome<Identity>(Identity::system());
                                               }});
    ASSERT_TRUE(front) << front.error().text();
    front_ = std::move(*front);
    http_ = net::testing::connect(loop_, net::testing::to(*front_->https().front()));
    thread_ = std::thread([this] { owner_.run(); });
  }
  void TearDown() override {
    if (front_) front_->shutdown(Duration::zero());
    owner_.stop();
    if (thread_.joinable()) thread_.join();
    http_.reset();
    front_.reset();
    ServerFixture::TearDown();
  }
  std::optional<WsTestClient> open(const std::string& part, const std::string& protocol) {
    auto upgraded = WsTestClient::open(*http_, openingRequest(kPod + part, protocol));
    EXPECT_TRUE(upgraded);
    if (!upgraded || !upgraded->stream) {
      ADD_FAILURE() << (upgraded ? upgraded->response.body : upgraded.error().text());
      return std::nullopt;
    }
    EXPECT_EQ(upgraded->response.headers.get("Sec-WebSocket-Protocol"), protocol);
    return WsTestClient(std::move(upgraded->stream));
  }

  Result<net::HttpResponse> get(const std::string& target) {
    return http_->call({"GET", target, {}, "", {}});
  }

  FakeRunner runner_;
  net::Loop loop_{2};
  std::unique_ptr<HttpFront> front_;
  std::unique_ptr<net::HttpClient> http_;
  std::thread thread_;
};

TEST_F(NodePartsTest, StreamsLogs) {
  listen();
  auto log = get(kPod + "/log?container=a&follow=true");
  ASSERT_TRUE(log) << log.error().text();
  EXPECT_EQ(log->status, 200);
  EXPECT_EQ(log->body, "line 1\nline 2\nline 3\n");
  auto waiting = get(kPod + "/log?container=b");
  EXPECT_EQ(waiting->status, 400);
  EXPECT_NE(waiting->body.find("waiting to start"), std::string::npos);
}

TEST_F(NodePartsTest, WhatLeadsSomewherePassesAdmission) {
  std::vector<std::string> asked;
  admission_.add(std::make_unique<NoConnect>(asked));
  serveProxies(*server_, *context_, loop_);
  merge(kPod + "/status", R"({"status":{"podIP":"192.0.2.1"}})");
  for (const char* part : {"/exec?container=a&command=sh&stdout=true", "/attach?container=a",
                           "/portforward?ports=80", "/proxy/a/b"}) {
    auto refused = ask("GET", kPod + part);
    EXPECT_EQ(refused.status, 403) << part << refused.body;
  }
  EXPECT_EQ(asked, (std::vector<std::string>{
                       "web exec PodExecOptions", "web attach PodAttachOptions",
                       "web portforward PodPortForwardOptions", "web proxy PodProxyOptions"}));
}

TEST_F(NodePartsTest, RunsCommandsOverBothProtocols) {
  listen();
  for (const char* protocol : {"v5.channel.k8s.io", "v4.channel.k8s.io"}) {
    auto client = open("/exec?container=a&command=sh&stdin=true&stdout=true&tty=true", protocol);
    ASSERT_TRUE(client);
    EXPECT_EQ(client->next()->payload, "\1");
    client->send(WsOpcode::kBinary, std::string_view("\0hello", 6));
    EXPECT_EQ(client->next()->payload, "\1HELLO");
    client->send(WsOpcode::kText, "\4{\"Width\":80,\"Height\":25}");
    EXPECT_EQ(client->next()->payload,
              "\1"
              "80");
    client->send(WsOpcode::kBinary, std::string_view("\xff\0", 2));
    auto status = client->next();
    ASSERT_TRUE(status);
    EXPECT_EQ(status->payload[0], 3);
    EXPECT_NE(status->payload.find("NonZeroExitCode"), std::string::npos) << status->payload;
    EXPECT_EQ(client->next()->opcode, WsOpcode::kClose);
  }
}

TEST_F(NodePartsTest, SpeaksTheOldestProtocolInSentences) {
  listen();
  auto client =
      open("/exec?container=a&command=sh&stdin=true&stdout=true&tty=true", "channel.k8s.io");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->next()->payload, "\1");
  client->send(WsOpcode::kBinary, std::string_view("\xff\0", 2));
  auto verdict = client->next();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->payload[0], 3);
  EXPECT_EQ(verdict->payload.find("\3command terminated with exit code "), 0U) << verdict->payload;
  EXPECT_EQ(client->next()->opcode, WsOpcode::kClose);
}

TEST_F(NodePartsTest, ForwardsPortsOverChannels) {
  listen();
  auto client = open("/portforward?ports=80&ports=81", "v4.channel.k8s.io");
  ASSERT_TRUE(client);
  for (std::string_view want : {std::string_view("\0P\0", 3), std::string_view("\1P\0", 3),
                                std::string_view("\2Q\0", 3), std::string_view("\3Q\0", 3)})
    EXPECT_EQ(client->next()->payload, want);
  EXPECT_EQ(client->next()->payload, "\3connection refused");
  client->send(WsOpcode::kBinary, std::string_view("\0ping", 5));
  EXPECT_EQ(client->next()->payload, std::string_view("\0echo ping", 10));
}

TEST_F(NodePartsTest, ForwardsPortsThroughTunnelledSpdy) {
  listen();
  auto client = open("/portforward", "SPDY/3.1+portforward.k8s.io");
  ASSERT_TRUE(client);
  net::SpdyWriter writer;
  net::SpdyReader reader;
  auto hear = [&] {
    std::optional<net::SpdyFrame> frame;
    while (!(frame = reader.next())) {
      auto message = client->next();
      if (!message) break;
      reader.add(message->payload);
    }
    return frame;
  };
  net::Headers error{{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}};
  net::Headers data{{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}};
  client->send(WsOpcode::kBinary, writer.synStream(1, error, true));
  client->send(WsOpcode::kBinary, writer.synStream(3, data, false));
  EXPECT_EQ(hear()->stream, 1u);
  EXPECT_EQ(hear()->stream, 3u);
  client->send(WsOpcode::kBinary, net::SpdyWriter::data(3, "ping", false));
  EXPECT_EQ(hear()->data, "echo ping");
  client->send(WsOpcode::kBinary, net::SpdyWriter::data(3, "", true));
  for (uint32_t stream : {3u, 1u}) {
    auto fin = hear();
    ASSERT_TRUE(fin);
    EXPECT_TRUE(fin->fin);
    EXPECT_EQ(fin->stream, stream);
  }
}

// As kubectl did before 1.30, and as KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false makes it do.
class SpdyPartsTest : public NodePartsTest {
 protected:
  std::unique_ptr<net::ByteStream> open(const std::string& part, const std::string& protocol,
                                        int status = 101) {
    net::HttpRequest request{"POST", kPod + part, {}, "", {}};
    request.headers.set("Connection", "Upgrade");
    request.headers.set("Upgrade", "SPDY/3.1");
    request.headers.add("X-Stream-Protocol-Version", "v9.new");
    request.headers.add("X-Stream-Protocol-Version", protocol);
    auto upgraded = WsTestClient::open(*http_, std::move(request));
    EXPECT_TRUE(upgraded);
    EXPECT_EQ(upgraded->response.status, status) << upgraded->response.body;
    if (status == 101) {
      EXPECT_EQ(upgraded->response.headers.get("X-Stream-Protocol-Version"), protocol);
    }
    return std::move(upgraded->stream);
  }
  std::optional<net::SpdyFrame> hear(net::ByteStream& stream) {
    std::optional<net::SpdyFrame> frame;
    while (!(frame = reader_.next())) {
      std::promise<Result<std::string>> got;
      stream.read([&](Result<std::string> r) { got.set_value(std::move(r)); });
      auto future = got.get_future();
      auto bytes = net::testing::await(future);
      if (!bytes || bytes->empty()) return std::nullopt;
      reader_.add(*bytes);
    }
    return frame;
  }
  void say(net::ByteStream& stream, uint32_t id, const std::string& type) {
    stream.write(writer_.synStream(id, {{"streamtype", type}}, false), {});
    EXPECT_EQ(hear(stream)->stream, id);
  }
  net::SpdyWriter writer_;
  net::SpdyReader reader_;
};

TEST_F(SpdyPartsTest, RunsCommands) {
  listen();
  auto stream = open("/exec?container=a&command=sh&stdin=true&stdout=true&stderr=true&tty=true",
                     "v4.channel.k8s.io");
  ASSERT_TRUE(stream);
  say(*stream, 1, "error");
  say(*stream, 3, "stdin");
  stream->write(net::SpdyWriter::data(3, "early", false), {});
  say(*stream, 5, "stdout");
  say(*stream, 7, "resize");
  EXPECT_EQ(hear(*stream)->data, "EARLY");
  stream->write(net::SpdyWriter::data(7, "{\"Width\":80,\"Height\":25}\n", false), {});
  EXPECT_EQ(hear(*stream)->data, "80");
  stream->write(net::SpdyWriter::data(3, "hello", false), {});
  EXPECT_EQ(hear(*stream)->data, "HELLO");
  stream->write(net::SpdyWriter::data(3, "", true), {});
  std::string status;
  bool outEnded = false;
  while (auto frame = hear(*stream)) {
    if (frame->type != net::SpdyFrame::Type::kData) continue;
    if (frame->stream == 1) status += frame->data;
    outEnded = outEnded || (frame->stream == 5 && frame->fin);
  }
  EXPECT_NE(status.find("NonZeroExitCode"), std::string::npos) << status;
  EXPECT_TRUE(outEnded);
}

TEST_F(SpdyPartsTest, ForwardsPorts) {
  listen();
  auto stream = open("/portforward", "portforward.k8s.io");
  ASSERT_TRUE(stream);
  net::Headers error{{"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}};
  net::Headers data{{"streamtype", "data"}, {"port", "80"}, {"requestid", "0"}};
  stream->write(writer_.synStream(1, error, true), {});
  stream->write(writer_.synStream(3, data, false), {});
  EXPECT_EQ(hear(*stream)->stream, 1u);
  EXPECT_EQ(hear(*stream)->stream, 3u);
  stream->write(net::SpdyWriter::data(3, "ping", false), {});
  EXPECT_EQ(hear(*stream)->data, "echo ping");
}

TEST_F(SpdyPartsTest, SaysWhatItSpeaks) {
  listen();
  open("/exec?container=a&command=ls&stdout=true", "v1.odd", 400);
  open("/portforward", "v4.channel.k8s.io", 400);
}

TEST_F(NodePartsTest, WantsAWebSocket) {
  listen();
  auto plain = get(kPod + "/exec?container=a&command=ls&stdout=true");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 400);
  EXPECT_NE(plain->body.find("Upgrade request required"), std::string::npos);
  auto unknown = WsTestClient::open(
      *http_, openingRequest(kPod + "/exec?container=a&command=ls&stdout=true", "v9.x"));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->response.status, 400) << unknown->response.body;
}

TEST_F(NodePartsTest, GetAloneDoesNotPermitExec) {
  NoCreate authorizer;
  begin(authorizer);
  for (const char* part : {"/exec?container=a&command=ls&stdout=true", "/attach", "/portforward"})
    EXPECT_EQ(ask("GET", kPod + part).status, 403) << part;
}

}  // namespace
}  // namespace mangrove::apiserver
