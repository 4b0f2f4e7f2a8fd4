#include "apiserver/protobuf/responder.h"

#include <array>
#include <functional>

#include "apiserver/protobuf/envelope.h"
#include "base/text/strings.h"
#include "json/view.h"

namespace mangrove::apiserver::protobuf {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kJsonWatch = "application/json;stream=watch";

// Lines of JSON in, frames out. All watchers of a change are told the same, one after the other:
// the line is translated for the first of them, and the frame kept for a while.
class Frames {
 public:
  std::string of(std::string_view lines) {
    std::string frames;
    for (std::string_view line : split(lines, '\n'))
      if (!line.empty()) frames += frameOf(line);
    doc_.shrink(kLongestKept);
    return frames;
  }

 private:
  struct Known {
    std::string line, frame;
  };
  static constexpr size_t kPlaces = 64;
  static constexpr size_t kLongestKept = 16 * 1024;

  std::string frameOf(std::string_view line) {
    Known& place = recent_[std::hash<std::string_view>()(line) % kPlaces];
    if (place.line == line) return place.frame;
    std::string frame = translated(line);
    if (line.size() <= kLongestKept) place = {std::string(line), frame};
    return frame;
  }
  // "" for what protobuf cannot say.
  std::string translated(std::string_view line) {
    auto event = doc_.parse(line);
    return event ? watchFrame(*event).value_or("") : "";
  }

  std::array<Known, kPlaces> recent_;
  json::Doc doc_;
};

std::string framesOf(std::string_view lines) {
  thread_local Frames frames;
  return frames.of(lines);
}

class ProtobufStream final : public AnswerStream {
 public:
  explicit ProtobufStream(std::unique_ptr<AnswerStream> inner) : inner_(std::move(inner)) {}
  bool write(std::string bytes) override {
    std::string frames = framesOf(bytes);
    return frames.empty() || inner_->write(std::move(frames));
  }
  Bytes queued() const override { return inner_->queued(); }
  void onClosed(Fn fn) override { inner_->onClosed(std::move(fn)); }
  void onDrained(Fn fn) override { inner_->onDrained(std::move(fn)); }

 private:
  std::unique_ptr<AnswerStream> inner_;
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
    head.body = framesOf(head.body);
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
