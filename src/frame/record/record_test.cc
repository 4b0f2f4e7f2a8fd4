#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "client/testing/scripted_client.h"
#include "frame/record/entry_file.h"
#include "frame/record/recorder.h"
#include "frame/record/redact.h"
#include "frame/record/replay.h"
#include "json/view.h"

namespace mangrove::frame::record {
namespace {

using client::testing::ScriptedClient;
using std::chrono::seconds;

Moment moment(int64_t second) {
  return {MonoTime(seconds(second)), WallTime(seconds(1'700'000'000 + second))};
}

TEST(RecordEntries, ComeBackAsTheyWere) {
  EntryPen pen;
  std::string bytes;
  pen.write(Mark::kSession, 1, moment(5), "{}", bytes);
  pen.write(Mark::kTimer, 300, moment(7), "", bytes);
  pen.write(Mark::kRequest, 1, {}, "GET /x\n\n", bytes);
  pen.write(Mark::kEvents, 2, moment(6), "a\n", bytes);  // wall clocks go back now and then
  std::string_view rest = bytes;
  Moment last;
  const auto next = [&] { return takeEntry(rest, last); };
  EXPECT_EQ(next()->at, moment(5));
  const auto timer = next();
  EXPECT_EQ(timer->id, 300);
  EXPECT_EQ(timer->at, moment(7));
  const auto request = next();
  EXPECT_EQ(request->mark, Mark::kRequest);
  EXPECT_EQ(request->body, "GET /x\n\n");
  EXPECT_EQ(request->at, moment(7)) << "decisions are of the turn they are in";
  EXPECT_EQ(next()->at, moment(6));
  EXPECT_FALSE(next());
  EXPECT_TRUE(rest.empty());
}

TEST(RecordEntries, WhatIsCutAnywhereIsLeftAlone) {
  EntryPen pen;
  std::string bytes;
  pen.write(Mark::kEvents, 2, moment(6), "0123456789", bytes);
  for (size_t size = 1; size < bytes.size(); size++) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    Moment last;
    EXPECT_FALSE(takeEntry(rest, last)) << size;
    EXPECT_EQ(rest.size(), size) << "left for when more has come";
  }
}

TEST(RecordEntries, KeepAnswersAndErrors) {
  client::Reply reply{201, R"({"a":1})", {"old"}, 3};
  const auto back = replyFrom(textOf(Result<client::Reply>(reply)));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->status, 201);
  EXPECT_EQ(back->body, reply.body);
  EXPECT_EQ(back->warnings, reply.warnings);
  EXPECT_EQ(back->tries, 3);
  const Result<client::Reply> bad = Error(Code::kConflict, "changed", 409).in("patch x");
  const auto error = replyFrom(textOf(bad));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code(), Code::kConflict);
  EXPECT_EQ(error.error().detail(), 409);
  EXPECT_EQ(error.error().text(), "patch x: changed");
  EXPECT_TRUE(outcomeFrom(textOf(Result<>())));
  EXPECT_FALSE(replyFrom("\x01")) << "a cut answer is an error, not a crash";
}

TEST(RecordRing, KeepsTheLastEightFiles) {
  const TempFolder folder("ring");
  const std::string path = folder.file("day");
  auto ring = RingFile::open(path, 800);
  ASSERT_TRUE(ring);
  for (int i = 0; i < 20; i++) {
    ASSERT_TRUE((*ring)->append(std::string(100, 'x')));
    EXPECT_TRUE((*ring)->isFull());
    ASSERT_TRUE((*ring)->next());
  }
  const auto parts = ringParts(path);
  ASSERT_EQ(parts.size(), RingFile::kParts);
  EXPECT_EQ(parts.front().number, 14);
  EXPECT_EQ(parts.back().number, 21);
  ring->reset();
  ASSERT_TRUE(RingFile::open(path, 800)) << "a process begins a file of its own";
  EXPECT_EQ(ringParts(path).back().number, 22);
}

TEST(RecordRing, ManyShortLivesDoNotPushOutALongOne) {
  const TempFolder folder("ring");
  const std::string path = folder.file("day");
  ASSERT_TRUE((*RingFile::open(path, 800))->append(std::string(600, 'x')));
  for (int i = 0; i < 12; i++) ASSERT_TRUE((*RingFile::open(path, 800))->append("12345678"));
  EXPECT_EQ(ringParts(path).front().number, 1) << "600 and 12 × 8 bytes are below 800 less a part";
  ASSERT_TRUE((*RingFile::open(path, 800))->append(std::string(100, 'x')));
  ASSERT_TRUE(RingFile::open(path, 800));
  EXPECT_EQ(ringParts(path).front().number, 2);
}

// Pods as a watch shows them: alike but for a few values.
std::string podLine(int number) {
  return fmt::format(
      R"({{"type":"MODIFIED","object":{{"metadata":{{"name":"web-{0}","namespace":"default","labels":{{"app":"web","pod-template-hash":"5d4f8c7b9"}},"resourceVersion":"{1}"}},"spec":{{"containers":[{{"name":"main","image":"registry/web:1","resources":{{"requests":{{"cpu":"500m","memory":"512Mi"}}}}}}],"nodeName":"n{2}"}},"status":{{"phase":"Running"}}}}}})",
      number, 1000 + number * 7, number % 20);
}

TEST(RecordPacking, GivesBackWhatWasFlushedWhereverItIsCut) {
  Packer packer;
  std::string plain, packed;
  std::vector<std::pair<size_t, size_t>> flushed;  // so much packed is so much plain
  for (int i = 0; i < 300; i++) {
    plain += podLine(i);
    packed += packer.pack(podLine(i));
    flushed.emplace_back(packed.size(), plain.size());
  }
  for (const auto& [size, want] : flushed) {
    Unpacker unpacker;
    std::string out;
    ASSERT_TRUE(unpacker.unpack(std::string_view(packed).substr(0, size), out));
    EXPECT_EQ(out, plain.substr(0, want));
    EXPECT_FALSE(unpacker.isEnded());
  }
  packed += packer.end();
  EXPECT_TRUE(isPacked(packed));
  EXPECT_LT(packed.size(), plain.size() / 8);
  Unpacker unpacker;
  std::string out;
  for (const char byte : packed) ASSERT_TRUE(unpacker.unpack({&byte, 1}, out));
  EXPECT_EQ(out, plain);
  EXPECT_TRUE(unpacker.isEnded());
  EXPECT_FALSE(Unpacker().unpack("hello, this is nothing that was packed", out));
}

TEST(RecordWriter, WritesInItsOwnThreadAndTurnsFilesOver) {
  const TempFolder folder("writer");
  const std::string path = folder.file("day");
  {
    auto writer = RingWriter::open(path, 800);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 3; i++) {
      std::string bytes;
      EntryPen().write(Mark::kSession, static_cast<uint64_t>(i), moment(i), podLine(i), bytes);
      (*writer)->append(std::move(bytes));
      (*writer)->wait();
      EXPECT_TRUE((*writer)->isFull());
      (*writer)->next();
      EXPECT_FALSE((*writer)->isFull()) << "the file that follows is not";
      EXPECT_TRUE((*writer)->state());
    }
  }
  auto file = EntryFile::open(path + ".3");
  ASSERT_TRUE(file);
  const auto entry = (*file)->next();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->at, moment(2));
  EXPECT_FALSE((*file)->next());
  EXPECT_FALSE((*file)->isTorn());
}

TEST(RecordRedaction, LeavesNothingOfASecret) {
  const std::string lines =
      R"({"type":"ADDED","object":{"kind":"Secret","metadata":{"name":"s","annotations":{"last":"hunter2"}},"data":{"k":"hunter2"}}})"
      "\n"
      R"({"items":[{"stringData":{"k":"hunter2"}}]})"
      "\nhunter2\n";
  const std::string shown = withoutSecrets(lines);
  EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("name":"s")"), std::string::npos);
  client::Request token;
  token.ref = {api::kind::kServiceAccount, "default", "x", "token"};
  EXPECT_TRUE(isSecret(token));
  EXPECT_TRUE(isSecret(api::kind::kSecret));
  EXPECT_FALSE(isSecret(api::kind::kConfigMap));
}

// A role in small: lists, watches, and says every second how much it has seen.
class Toy {
 public:
  Toy(client::ApiClient& client, Clock& clock, Mailbox& owner, int factor = 1)
      : client_(client), clock_(clock), owner_(owner), factor_(factor) {}
  void start() {
    client::Request list;
    list.verb = client::Verb::kList;
    list.ref = {api::kind::kSecret, "", ""};
    client_.submit(owner_, std::move(list), [this](Result<client::Reply> reply) {
      if (!reply) return say(reply.error().text());
      client::WatchRequest request;
      request.kind = api::kind::kSecret;
      watch_ = client_.watch(
          std::move(request),
          {.onOpen = {},
           .onEvents =
               [this](const std::string& lines) {
                 // What it decides may follow from anything but the contents of a Secret.
                 owner_.post([this, n = std::count(lines.begin(), lines.end(), '\n')] {
                   seen_ += static_cast<size_t>(n);
                 });
                 return true;
               },
           .onEnd = [this](Result<> end) { say(end ? "ended" : end.error().text()); }});
    });
    tick();
  }

 private:
  void tick() {
    timer_ = clock_.after(seconds(1), [this] {
      owner_.post([this] {
        say(fmt::format("{} at {}", seen_ * static_cast<size_t>(factor_),
                        clock_.wall().time_since_epoch().count()));
        tick();
      });
    });
  }
  void say(const std::string& what) {
    client_.submit(client::patchRequest({api::kind::kNode, "", "n1"}, client::PatchType::kMerge,
                                        json::write(json::Object{{"said", {{"what", what}}}})),
                   [](const Result<client::Reply>&) {});
  }

  client::ApiClient& client_;
  Clock& clock_;
  Mailbox& owner_;
  int factor_;
  size_t seen_ = 0;
  std::unique_ptr<client::Watch> watch_;
  Timer timer_;
};

class Recording : public ::testing::Test {
 protected:
  // A process that sees a list, two events (the second behind a tick) and two ticks.
  void live(uint64_t limit = 1 << 30) {
    VirtualClock clock(WallTime(seconds(1'700'000'000)));
    Mailbox owner;
    Session session = sessionOf("toy", {"--x"});
    auto recorder = Recorder::make({path_, limit}, session, owner, clock);
    ASSERT_TRUE(recorder);
    auto raw = std::make_unique<ScriptedClient>();
    ScriptedClient& server = *raw;
    {
      auto client = (*recorder)->client(std::move(raw));
      Toy toy(*client, (*recorder)->turns().clock(), owner);
      (*recorder)->start([&] { toy.start(); });
      server.reply(200, R"({"items":[{"data":{"k":"hunter2"}}]})");
      owner.drain();
      server.watches.back()->send(R"({"type":"ADDED","object":{"data":{"k":"hunter2"}}})");
      clock.advance(seconds(1));
      owner.drain();
      (*recorder)->flush();
      server.reply(200, "{}");
      server.watches.back()->send(R"({"type":"MODIFIED","object":{}})");
      owner.drain();
      clock.advance(seconds(1));
      owner.drain();
      server.watches.back()->end(fail(Code::kGone, "too old"));
      owner.drain();
      (*recorder)->stop([] {});
    }
  }

  class ToySubject final : public Subject {
   public:
    ToySubject(ReplayHouse& house, int factor)
        : client_(house.turns.client()),
          toy_(std::make_unique<Toy>(*client_, house.turns.clock(), house.owner, factor)) {}
    Result<> start() override {
      toy_->start();
      return {};
    }
    void stop(Fn done) override { done(); }

   private:
    std::unique_ptr<client::ApiClient> client_;
    std::unique_ptr<Toy> toy_;
  };

  Result<ReplayResult> again(int factor = 1) {
    return replay(path_, [&](const Session& session, ReplayHouse& house) {
      EXPECT_EQ(session.role, "toy");
      EXPECT_EQ(session.args, std::vector<std::string>{"--x"});
      return Result<std::unique_ptr<Subject>>(std::make_unique<ToySubject>(house, factor));
    });
  }

  TempFolder folder_{"record"};
  std::string path_ = folder_.file("day");
};

TEST_F(Recording, IsReplayedWithTheSameDecisions) {
  live();
  for (int i = 0; i < 2; i++) {
    const auto result = again();
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_FALSE(result->difference) << result->difference->text();
    EXPECT_EQ(result->sessions, 1);
    EXPECT_EQ(result->decisions, 5) << "list, watch, two ticks, the end of the watch";
  }
}

TEST_F(Recording, NamesTheFirstDifferenceAndItsCause) {
  live();
  const auto result = again(2);
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->difference);
  EXPECT_TRUE(result->difference->cause.starts_with("timer ")) << result->difference->cause;
  EXPECT_EQ(result->difference->recorded, "PATCH /api/v1/nodes/n1");
  EXPECT_TRUE(result->difference->where.starts_with("/said/what: ")) << result->difference->where;
}

TEST_F(Recording, HoldsARestartAndATornEnd) {
  live();
  live();
  const auto parts = ringParts(path_);
  ASSERT_EQ(parts.size(), 2);
  auto bytes = readFile(parts.back().file);
  bytes->resize(bytes->size() - 3);
  ASSERT_TRUE(writeFileAtomically(parts.back().file, *bytes));
  const auto result = again();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->sessions, 2);
  EXPECT_FALSE(result->difference) << result->difference->text();
  EXPECT_EQ(result->notes.size(), 1);
}

TEST_F(Recording, GoesOnInTheNextFileAndSaysWhenTheBeginningIsGone) {
  live(800);  // every write fills a file of 100 bytes
  ASSERT_GE(ringParts(path_).size(), 2U);
  const auto whole = again();
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->difference);
  EXPECT_EQ(whole->sessions, 1);
  ::unlink(ringParts(path_).front().file.c_str());
  const auto rest = again();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->sessions, 0);
  ASSERT_EQ(rest->notes.size(), 1U);
  EXPECT_NE(rest->notes[0].find("the beginning was overwritten"), std::string::npos);
}

TEST_F(Recording, HasNoSecrets) {
  live();
  size_t entries = 0;
  for (const RingPart& part : ringParts(path_)) {
    const auto file = EntryFile::open(part.file);
    ASSERT_TRUE(file);
    while (const auto entry = (*file)->next()) {
      EXPECT_EQ(entry->body.find("hunter2"), std::string::npos) << entry->body;
      entries++;
    }
  }
  EXPECT_GT(entries, 10);
}

TEST_F(Recording, RefusesWhatIsNoRecording) {
  EXPECT_EQ(again().error().code(), Code::kNotFound);
  ASSERT_TRUE(writeFileAtomically(path_ + ".1", "hello"));
  EXPECT_EQ(again().error().code(), Code::kInvalid);
}

TEST(RecordDifference, SaysWhere) {
  const std::string a = "PATCH /x\nmerge\n{\"spec\":{\"node\":\"n1\",\"list\":[1,2]}}";
  EXPECT_EQ(whereTheyDiffer(a, "PATCH /x\nmerge\n{\"spec\":{\"node\":\"n2\",\"list\":[1,2]}}"),
            "/spec/node: \"n1\" was recorded, \"n2\" is decided now");
  EXPECT_EQ(whereTheyDiffer(a, "PATCH /x\nmerge\n{\"spec\":{\"node\":\"n1\",\"list\":[1]}}"),
            "/spec/list/1: 2 was recorded, nothing is decided now");
  EXPECT_EQ(whereTheyDiffer(a, "PATCH /y\nmerge\n{}"), "another request");
  EXPECT_EQ(whereTheyDiffer(a, ""), "nothing is decided now");
  EXPECT_EQ(whereTheyDiffer("", a), "nothing was decided then");
}

}  // namespace
}  // namespace mangrove::frame::record
