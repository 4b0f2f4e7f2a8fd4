#include "apiserver/protobuf/responder.h"

#include "apiserver/protobuf/envelope.h"
#include "base/strings.h"
#include "json/view.h"

namespace mangrove::apiserver::protobuf {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kJsonWatch = "application/json;stream=watch";

// Lines of JSON in, frames out.
std::string framesOf(json::Doc& doc, std::string_view lines) {
  std::string frames;
  for (std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    auto event = doc.parse(line);
    if (!event) continue;
    if (auto frame = watchFrame(*event)) frames += *frame;
  }
  return frames;
}

class ProtobufStream final : public AnswerStream {
 public:
  explicit ProtobufStream(std::unique_ptr<AnswerStream> inner) : inner_(std::move(inner)) {}
  bool write(std::string bytes) override {
    std::string frames = framesOf(doc_, bytes);
    return frames.empty() || inner_->write(std::move(frames));
  }
  Bytes queued() const override { return inner_->queued(); }
  void onClosed(Fn fn) override { inner_->onClosed(std::move(fn)); }
  void onDrained(Fn fn) override { inner_->onDrained(std::move(fn)); }

 private:
  std::unique_ptr<AnswerStream> inner_;
  json::Doc doc_;
};

class ProtobufResponder final : public Responder {
 public:
  explicit ProtobufResponder(ResponderPtr inner) : inner_(std::move(inner)) {}

  void answer(Answer answer) override {
    if (answer.contentType == kJson) translate(answer);
    inner_->answer(std::move(answer));
  }

  std::unique_ptr<AnswerStream> stream(Answer head) override {
    if (head.contentType != kJsonWatch) return inner_->stream(std::move(head));
    json::Doc doc;
    head.body = framesOf(doc, head.body);
    head.contentType = std::string(kMediaType) + ";stream=watch";
    return std::make_unique<ProtobufStream>(inner_->stream(std::move(head)));
  }

 private:
  static void translate(Answer& answer) {
    json::Doc doc;
    auto object = doc.parse(answer.body);
    if (!object) return;
    auto bytes = toProtobuf(*object);
    if (!bytes) return;
    answer.body = std::move(*bytes);
    answer.contentType = kMediaType;
  }

  ResponderPtr inner_;
};

}  // namespace

ResponderPtr inProtobuf(ResponderPtr to) {
  return std::make_shared<ProtobufResponder>(std::move(to));
}

}  // namespace mangrove::apiserver::protobuf
