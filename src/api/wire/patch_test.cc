#include "api/wire/patch.h"

#include <gtest/gtest.h>

#include "api/object/bodies.h"
#include "api/object/event.h"
#include "api/object/lease.h"

namespace mangrove::api {
namespace {

ObjectMeta present() {
  ObjectMeta meta;
  meta.name = "web-0";
  meta.ns = Interned("shop");
  meta.uid = Uid("u1");
  meta.resourceVersion = "42";
  meta.labels = {{"a", "1"}};
  meta.annotations = {{"x", "y"}};
  return meta;
}

TEST(ObjectPatch, HoldsOnlyWhatChanges) {
  const ObjectMeta meta = present();
  ObjectPatch patch(PatchForm::kMerge, meta);
  patch.setLabel("a", "1").setAnnotation("x", "y").removeLabel("b").removeAnnotation("z");
  patch.ifVersion(meta.resourceVersion);
  EXPECT_TRUE(patch.empty());
  patch.setLabel("a", "2").removeAnnotation("x").setAnnotation("k/l", "");
  EXPECT_FALSE(patch.empty());
  EXPECT_EQ(patch.text(), R"({"metadata":{"resourceVersion":"42","labels":{"a":"2"},)"
                          R"("annotations":{"x":null,"k/l":""}}})");
}

TEST(ObjectPatch, WithoutPresentMetadataEverythingCounts) {
  ObjectPatch patch(PatchForm::kMerge);
  patch.removeLabel("a").ifUid(Uid("u1"));
  EXPECT_EQ(patch.text(), R"({"metadata":{"labels":{"a":null},"uid":"u1"}})");
}

TEST(ObjectPatch, FieldsAreComparedWithTheObject) {
  json::Doc doc;
  auto object = doc.parse(R"({"spec":{"a":1,"list":[1,{"x":"y"}]},"status":{"phase":"Pending"}})");
  ObjectPatch same(PatchForm::kMerge);
  same.set({"status", "phase"}, "Pending", *object)
      .set({"spec", "a"}, 1, *object)
      .set({"spec", "a"}, 1.0, *object)
      .set({"spec", "list"}, json::Array{1, json::Object{{"x", "y"}}}, *object)
      .remove({"spec", "gone"}, *object);
  EXPECT_TRUE(same.empty());
  EXPECT_EQ(same.text(), "{}");
  ObjectPatch other(PatchForm::kMerge);
  other.set({"status", "phase"}, "Running", *object).remove({"spec", "a"}, *object);
  EXPECT_EQ(other.text(), R"({"status":{"phase":"Running"},"spec":{"a":null}})");
}

Condition condition(const char* type, Truth status, const char* reason, int64_t seconds) {
  Condition made;
  made.type = Interned(type);
  made.status = status;
  made.reason = Interned(reason);
  made.lastTransitionTime = WallTime(std::chrono::seconds(seconds));
  return made;
}

TEST(ObjectPatch, ConditionsKeepTheirTransition) {
  const std::vector<Condition> now{condition("A", Truth::kTrue, "r", 10),
                                   condition("B", Truth::kFalse, "r", 20)};
  ObjectPatch nothing(PatchForm::kStrategic);
  nothing.setCondition(condition("A", Truth::kTrue, "r", 99), now);
  EXPECT_TRUE(nothing.empty());

  ObjectPatch reason(PatchForm::kStrategic);
  reason.setCondition(condition("A", Truth::kTrue, "other", 99), now);
  EXPECT_EQ(reason.text(), R"({"status":{"conditions":[{"type":"A","status":"True",)"
                           R"("lastTransitionTime":"1970-01-01T00:00:10Z","reason":"other"}]}})");

  ObjectPatch flipped(PatchForm::kMerge);
  flipped.setCondition(condition("A", Truth::kFalse, "r", 99), now);
  flipped.setCondition(condition("C", Truth::kTrue, "", 99), now);
  EXPECT_EQ(
      flipped.text(),
      R"({"status":{"conditions":[)"
      R"({"type":"B","status":"False","lastTransitionTime":"1970-01-01T00:00:20Z","reason":"r"},)"
      R"({"type":"A","status":"False","lastTransitionTime":"1970-01-01T00:01:39Z","reason":"r"},)"
      R"({"type":"C","status":"True","lastTransitionTime":"1970-01-01T00:01:39Z"}]}})");
  EXPECT_EQ(contentType(PatchForm::kMerge), "application/merge-patch+json");
}

TEST(JsonPatch, EscapesPointersAndCountsChanges) {
  JsonPatch patch;
  patch.ifUid(Uid("u1")).ifVersion("7");
  EXPECT_TRUE(patch.empty());
  patch.add({"metadata", "labels", "a/b~c"}, "v").replace({"x", "0"}, 1).remove({"y"});
  EXPECT_FALSE(patch.empty());
  EXPECT_EQ(patch.text(),
            R"([{"op":"test","path":"/metadata/uid","value":"u1"},)"
            R"({"op":"test","path":"/metadata/resourceVersion","value":"7"},)"
            R"({"op":"add","path":"/metadata/labels/a~1b~0c","value":"v"},)"
            R"({"op":"replace","path":"/x/0","value":1},{"op":"remove","path":"/y"}])");
}

struct ChangeCase {
  const char *object, *patch;
  bool changes;
};

TEST(WouldChange, SeesNoOps) {
  const ChangeCase table[] = {
      {R"({"a":1})", R"({})", false},
      {R"({"a":1})", R"({"a":1})", false},
      {R"({"a":1})", R"({"a":2})", true},
      {R"({"a":1})", R"({"b":null})", false},
      {R"({"a":1})", R"({"a":null})", true},
      {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1}})", false},
      {R"({"a":{"b":1}})", R"({"a":{"c":1}})", true},
      {R"({"a":[1,2]})", R"({"a":[1,2]})", false},
      {R"({"a":[1,2]})", R"({"a":[1]})", true},
      {R"({"a":1})", R"({"a":{}})", true},
      {R"({})", R"({"a":{}})", true},
      {R"({"metadata":{"resourceVersion":"1","uid":"u","labels":{"a":"b"}}})",
       R"({"metadata":{"resourceVersion":"2","uid":"v","labels":{"a":"b"}}})", false},
      {R"({"spec":{"uid":"u"}})", R"({"spec":{"uid":"v"}})", true},
      {R"({"metadata":{"labels":{}}})", R"({"metadata":{"labels":{"a":"b"}}})", true},
  };
  for (const ChangeCase& row : table) {
    json::Doc doc;
    EXPECT_EQ(wouldChange(*doc.parse(row.object), *json::parse(row.patch)), row.changes)
        << row.object << " + " << row.patch;
  }
}

TEST(Bodies, BindEvictDelete) {
  const ObjectMeta pod = present();
  EXPECT_EQ(json::writeSorted(bindingBody(pod, "n1")),
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-0","namespace":"shop",)"
            R"("uid":"u1"},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}})");
  DeleteOptions options;
  EXPECT_EQ(json::writeSorted(evictionBody(pod, options)),
            R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web-0",)"
            R"("namespace":"shop"}})");
  options.gracePeriodSeconds = 0;
  options.uid = pod.uid;
  options.propagationPolicy = "Background";
  options.dryRun = true;
  EXPECT_EQ(json::writeSorted(options.toJson()),
            R"({"apiVersion":"v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions",)"
            R"("preconditions":{"uid":"u1"},"propagationPolicy":"Background"})");
}

TEST(Lease, ReadsAndWrites) {
  Lease lease;
  lease.meta = present();
  lease.holderIdentity = "me";
  lease.leaseDurationSeconds = 15;
  lease.acquireTime = lease.renewTime = WallTime(std::chrono::microseconds(1500000));
  auto again = decodeText<Lease>(json::write(lease.toJson()));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->holderIdentity, "me");
  EXPECT_EQ(again->renewTime, lease.renewTime);
  EXPECT_EQ(again->meta.resourceVersion, "42");
  EXPECT_EQ(json::writeSorted(lease.specJson()),
            R"({"acquireTime":"1970-01-01T00:00:01.500000Z","holderIdentity":"me",)"
            R"("leaseDurationSeconds":15,"leaseTransitions":0,)"
            R"("renewTime":"1970-01-01T00:00:01.500000Z"})");
}

TEST(Event, BothShapesReadBack) {
  Event event;
  event.meta.name = "web-0.1";
  event.meta.ns = Interned("shop");
  event.regarding = refTo(kind::kPod, present());
  event.type = "Warning";
  event.reason = "FailedScheduling";
  event.action = "Scheduling";
  event.note = "0/3 nodes are available";
  event.reportingController = "koord-scheduler";
  event.reportingInstance = "koord-scheduler-a";
  event.eventTime = WallTime(std::chrono::seconds(1));
  event.lastTime = WallTime(std::chrono::seconds(9));
  event.count = 3;
  for (const json::Object& body : {event.toCoreJson(), event.toEventsJson()}) {
    auto read = decodeText<Event>(json::write(body));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->regarding, event.regarding);
    EXPECT_EQ(read->reason, event.reason);
    EXPECT_EQ(read->note, event.note);
    EXPECT_EQ(read->action, event.action);
    EXPECT_EQ(read->reportingController, event.reportingController);
    EXPECT_EQ(read->count, 3);
    EXPECT_EQ(read->eventTime, event.eventTime);
    EXPECT_EQ(read->lastTime, event.lastTime);
  }
}

TEST(Event, NotesAreCutBetweenCharacters) {
  EXPECT_EQ(eventNote("short"), "short");
  const std::string cut = eventNote(std::string(1019, 'a') + "ää" + std::string(100, 'b'));
  EXPECT_EQ(cut, std::string(1019, 'a') + " ...");
  EXPECT_EQ(eventNote(std::string(2000, 'x')).size(), kMaxEventNote);
  EXPECT_EQ(eventName("web-0", WallTime(std::chrono::microseconds(1))), "web-0.00000000000003e8");
}

}  // namespace
}  // namespace mangrove::api
