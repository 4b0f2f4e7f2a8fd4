#include "agent/series/shelf.h"

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "agent/series/history.h"
#include "base/os/temp_folder.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

MonoTime at(int second) {
  return MonoTime(std::chrono::seconds(second));
}

std::vector<double> all(const Shelf& shelf, Shelf::Id id, uint32_t column = 0) {
  const auto window = shelf.window(id, column, at(0), at(1000000));
  return {window.values.begin(), window.values.end()};
}

TEST(Shelf, KeepsTheLastSlotsOfEachTrack) {
  auto shelf = Shelf::open("", {3, 1}, "boot", at(0)).value();
  const auto a = shelf.track("a");
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(shelf.begin(at(i)));
    shelf.put(a, 0, i);
  }
  EXPECT_EQ(all(shelf, a), (std::vector<double>{3, 4, 5}));
  EXPECT_EQ(shelf.last(a, 0), 5);
  EXPECT_FALSE(shelf.begin(at(5))) << "time must move";
}

TEST(Shelf, GapsAreAbsentNotZeroAndNotOldValues) {
  auto shelf = Shelf::open("", {4, 2}, "boot", at(0)).value();
  const auto a = shelf.track("a"), b = shelf.track("b");
  for (int i = 1; i <= 10; ++i) {
    shelf.begin(at(i));
    shelf.put(a, 0, i);
    if (i == 2 || i == 9) shelf.put(b, 1, 100 + i);
  }
  EXPECT_EQ(all(shelf, b, 1), std::vector<double>{109});
  EXPECT_EQ(all(shelf, b, 0), std::vector<double>{});
  EXPECT_EQ(shelf.last(b, 1), std::nullopt) << "nothing in the newest slot";
}

TEST(Shelf, WindowsIncludeBothEnds) {
  auto shelf = Shelf::open("", {100, 1}, "boot", at(0)).value();
  const auto a = shelf.track("a");
  for (int i = 1; i <= 20; ++i) {
    shelf.begin(at(i));
    shelf.put(a, 0, i);
  }
  const auto window = shelf.window(a, 0, at(5), at(8));
  EXPECT_EQ(window.values.size(), 4u);
  EXPECT_EQ(window.span(), 3s);
  EXPECT_EQ(shelf.average(a, 0, at(5), at(8)), 6.5);
  EXPECT_EQ(shelf.average(a, 0, at(50), at(80)), std::nullopt);
  EXPECT_EQ(shelf.aggregate(a, 0, at(1), at(10))->p99, 9) << "the reference's index rule";
}

TEST(Shelf, DroppedTracksAreReusedEmpty) {
  auto shelf = Shelf::open("", {4, 1}, "boot", at(0)).value();
  for (int i = 1; i <= 50; ++i) {
    const std::string name = "pod" + std::to_string(i);
    const auto id = shelf.track(name);
    shelf.begin(at(i));
    EXPECT_EQ(all(shelf, id), std::vector<double>{});
    shelf.put(id, 0, i);
    EXPECT_EQ(all(shelf, id), std::vector<double>{double(i)});
    shelf.drop(name);
  }
  EXPECT_EQ(shelf.tracks(), 0u);
  EXPECT_LT(shelf.bytes(), 2000u);
}

TEST(Shelf, SurvivesItsProcessAndGrows) {
  const TempFolder place("shelf");
  {
    auto shelf = Shelf::open(place.file("s"), {10, 2}, "boot", at(0)).value();
    EXPECT_FALSE(shelf.restored());
    for (int t = 0; t < 40; ++t) {
      shelf.begin(at(t + 1));
      for (int pod = 0; pod <= t; ++pod) shelf.put(shelf.track("p" + std::to_string(pod)), 1, t);
    }
  }
  auto again = Shelf::open(place.file("s"), {10, 2}, "boot", at(60)).value();
  EXPECT_TRUE(again.restored());
  EXPECT_EQ(again.tracks(), 40u);
  EXPECT_EQ(all(again, *again.find("p35"), 1), (std::vector<double>{35, 36, 37, 38, 39}));
  EXPECT_EQ(again.newest(), at(40));
  again.begin(at(61));
  again.put(*again.find("p35"), 1, 77);
  EXPECT_EQ(all(again, *again.find("p35"), 1).back(), 77);
}

TEST(Shelf, AFullDiskKeepsItInMemory) {
  const TempFolder place("shelf");
  auto shelf = Shelf::open(place.file("s"), {10, 1}, "boot", at(0)).value();
  shelf.begin(at(1));
  shelf.put(shelf.track("first"), 0, 7);
  // No file of this process may grow any more; the kernel's signal for that is ignored.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &none);
  for (int i = 0; i < 100; ++i) shelf.put(shelf.track("p" + std::to_string(i)), 0, i);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old);
  EXPECT_EQ(shelf.tracks(), 101u);
  EXPECT_EQ(all(shelf, *shelf.find("first")), std::vector<double>{7});
  EXPECT_EQ(all(shelf, *shelf.find("p99")), std::vector<double>{99});
}

TEST(Shelf, AnotherBootShapeOrGarbageStartsEmpty) {
  const TempFolder place("shelf");
  const auto fill = [&] {
    auto shelf = Shelf::open(place.file("s"), {10, 1}, "boot", at(0)).value();
    shelf.begin(at(100));
    shelf.put(shelf.track("a"), 0, 1);
  };
  fill();
  EXPECT_FALSE(Shelf::open(place.file("s"), {10, 1}, "other", at(200))->restored());
  fill();
  EXPECT_FALSE(Shelf::open(place.file("s"), {10, 2}, "boot", at(200))->restored());
  fill();
  EXPECT_FALSE(Shelf::open(place.file("s"), {10, 1}, "boot", at(50))->restored()) << "future";
  fill();
  std::filesystem::resize_file(place.file("s"), 100);
  EXPECT_EQ(Shelf::open(place.file("s"), {10, 1}, "boot", at(200))->tracks(), 0u);
  EXPECT_FALSE(Shelf::open("/nowhere/at/all", {10, 1}, "boot", at(0)));
}

TEST(History, BeginsASlotASecondHoweverFastTicksCome) {
  History history = History::open({}, at(0));
  int slots = 0;
  for (int ms = 0; ms < 5000; ms += 100)
    slots += history.begin(MonoTime(std::chrono::milliseconds(1000 + ms))) ? 1 : 0;
  EXPECT_EQ(slots, 5);
}

}  // namespace
}  // namespace mangrove::agent
