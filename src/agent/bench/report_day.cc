#include "agent/bench/report_day.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "agent/collect/pod_book.h"
#include "agent/machine.h"
#include "agent/report/reporter.h"
#include "agent/report/status.h"
#include "agent/series/history.h"
#include "api/annotations/report_validity.h"
#include "api/annotations/sale_rule.h"
#include "api/wire/decode.h"
#include "base/number/rng.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "client/api_client.h"
#include "json/merge_patch.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

constexpr Duration kFilling = std::chrono::minutes(30);
constexpr const char* kValidity = "780s";

// Takes every write at once and keeps the object as a server would.
class Taker final : public client::ApiClient {
 public:
  using ApiClient::submit;
  void submit(client::Request request, Done done) override {
    if (auto patch = json::parse(request.body); patch && patch->is_object())
      json::applyMergePatch(status, patch->at("status"));
    ++writes;
    body = std::move(request.body);
    done(client::Reply{.status = 200, .body = "{}", .warnings = {}, .tries = 1});
  }
  std::unique_ptr<client::Watch> watch(client::WatchRequest, client::WatchHandler) override {
    return nullptr;
  }
  std::string server() const override { return "made time"; }

  json::Value status = json::Object{};
  std::string body;  // the last one
  uint64_t writes = 0;
};

// A machine of so many CPUs in a folder.
Result<std::unique_ptr<Machine>> machineOf(const std::string& dir, int64_t cpus) {
  const auto write = [&](const std::string& path, const std::string& text) {
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(dir + "/" + path).parent_path(),
                                        ignored);
    return writeFileAtomically(dir + "/" + path, text);
  };
  const std::string all = fmt::format("0-{}\n", cpus - 1);
  for (const auto& [path, text] :
       {std::pair<std::string, std::string>{"sys/fs/cgroup/cgroup.controllers", "cpu memory\n"},
        {"sys/devices/system/cpu/online", all},
        {"sys/devices/system/cpu/possible", all}})
    if (auto ok = write(path, text); !ok) return pass(ok.error());
  for (int64_t i = 0; i < cpus; ++i)
    for (const auto& [file, text] :
         {std::pair<const char*, std::string>{"core_id", fmt::format("{}\n", i)},
          {"physical_package_id", "0\n"}})
      if (auto ok = write(fmt::format("sys/devices/system/cpu/cpu{}/topology/{}", i, file), text);
          !ok)
        return pass(ok.error());
  return Machine::open({.root = dir, .live = false});
}

// Cores and bytes of a pod at a second.
struct PodLoad {
  double cores = 0, bytes = 0;
};
class Loads {
 public:
  Loads(const ReportDayOptions& options) : options_(options), rng_(options.seed) {
    // Services that fill a third of the node on average, no two alike.
    const double mean = static_cast<double>(options.cpus) / 3 / static_cast<double>(options.pods);
    for (int64_t i = 0; i < options.pods; ++i) means_.push_back(mean * (0.3 + 1.4 * rng_.unit()));
  }
  PodLoad at(int64_t pod, double second) {
    const double mean = means_[static_cast<size_t>(pod)];
    const double bytes = 2e9 * (0.5 + mean);
    switch (options_.shape) {
      case ReportShape::kSteady:
        return {mean * noise(0.01), bytes};
      case ReportShape::kNoise:
        return {mean * noise(0.3), bytes * noise(0.02)};
      case ReportShape::kWaves:
        return {mean * wave(second / 1800 + 0.618 * static_cast<double>(pod)) * noise(0.1), bytes};
      case ReportShape::kTide:
        return {mean * wave(second / 86400) * noise(0.1), bytes * wave(second / 86400 / 2)};
      case ReportShape::kSwell:
        return {mean * wave(second / 1800) * noise(0.1), bytes};
    }
    return {};
  }

 private:
  double noise(double share) { return 1 + share * (2 * rng_.unit() - 1); }
  static double wave(double turns) { return 1 + 0.5 * std::sin(2 * std::numbers::pi * turns); }

  const ReportDayOptions& options_;
  Rng rng_;
  std::vector<double> means_;
};

// One rhythm's reporter and what came of it.
struct Voice {
  Voice(Rhythm rhythm, Clock& clock, uint64_t seed, const Managers& managers)
      : manager(managers.make()),
        reporter({.client = taker,
                  .owner = owner,
                  .clock = clock,
                  .node = "n1",
                  .seed = seed,
                  .everyInterval = rhythm == Rhythm::kReference}) {
    auto metric = std::make_shared<api::NodeMetric>();
    if (rhythm == Rhythm::kOursKnown) {
      metric->meta.annotations.set(api::kReportValidityKey, kValidity);
      metric->meta.annotations.set(api::kSaleRuleKey, managers.saleRule);
    }
    reporter.follow(metric);
  }

  // The manager sees the last report, and this node what it wrote.
  void sell(MonoTime now) {
    const auto known = api::decodeText<api::NodeMetricStatus>(json::write(taker.status));
    if (!known) return;
    sold = manager(*known, now);
    const auto& names = api::resourceNames();
    const auto put = [&](Interned name, double amount) {
      node.status.allocatable.set(name, Quantity::of(static_cast<int64_t>(amount)));
    };
    put(names.batchCpu, sold.cpu);
    put(names.batchMemory, sold.memory);
    reporter.followNode(&node);
  }

  Taker taker;
  Mailbox owner;
  Manager manager;
  SoldAmounts sold;
  api::Node node;
  Reporter reporter;
  uint64_t seen = 0;  // of the taker's writes
  MonoTime wrote{};
  std::vector<std::string> bodies;
};

class Day {
 public:
  Day(const ReportDayOptions& options, std::unique_ptr<Machine> machine, const Managers& managers)
      : options_(options), machine_(std::move(machine)), loads_(options) {
    clock_.advance(seconds(1000));
    history_.emplace(History::open({}, clock_.mono()));
    look_.machine = machine_.get();
    look_.book = &book_;
    look_.history = &*history_;
    look_.node.memoryTotal = kGiB * 128;
    for (int64_t i = 0; i < options.pods; ++i) addPod(i);
    for (Rhythm rhythm : kRhythms)
      voices_.push_back(std::make_unique<Voice>(rhythm, clock_, options.seed, managers));
    for (const auto& voice : voices_) {
      const auto& names = api::resourceNames();
      for (api::ResourceList* list :
           {&voice->node.status.capacity, &voice->node.status.allocatable}) {
        list->set(names.cpu, Quantity::of(options.cpus));
        list->set(names.memory, Quantity::of(look_.node.memoryTotal));
      }
    }
  }

  ReportDay live() {
    const int64_t filling = kFilling / seconds(1);
    const int64_t all = filling + options_.length / seconds(1);
    for (int64_t second = 0; second < all; ++second) {
      advance(second);
      for (size_t i = 0; i < voices_.size(); ++i) speak(i, second >= filling);
      // At the whole minute, a little after the reports.
      if (second >= filling && second % 60 == 30)
        for (size_t i = 0; i < voices_.size(); ++i)
          day_.rhythms[i].sold.push_back(voices_[i]->sold);
    }
    for (size_t i = 0; i < voices_.size(); ++i) keepBodies(i);
    day_.status = json::write(voices_.front()->taker.status);
    return std::move(day_);
  }

 private:
  void addPod(int64_t number) {
    const std::string uid = fmt::format("uid-{:03}", number);
    const auto pod = api::decodeText<api::Pod>(fmt::format(
        R"({{"metadata":{{"name":"web-7c9d8b5f4-{:03}","namespace":"shop","uid":"{}"}},)"
        R"("spec":{{"nodeName":"n1","containers":[]}},"status":{{"qosClass":"Burstable"}}}})",
        number, uid));
    book_.put(std::make_shared<const api::Pod>(*pod));
    tracks_.push_back(history_->pods().track(uid));
  }

  // A second goes by.
  void advance(int64_t second) {
    clock_.advance(seconds(1));
    look_.at = clock_.mono();
    look_.wall = clock_.wall();
    history_->begin(look_.at);
    double cpu = 2, memory = 8e9;
    for (int64_t i = 0; i < options_.pods; ++i) {
      const PodLoad load = loads_.at(i, static_cast<double>(second));
      history_->pods().put(tracks_[static_cast<size_t>(i)], pod_column::kCpu, load.cores);
      history_->pods().put(tracks_[static_cast<size_t>(i)], pod_column::kMemory, load.bytes);
      cpu += load.cores;
      memory += load.bytes;
    }
    const Shelf::Id node = history_->nodeTrack();
    history_->node().put(node, node_column::kCpu, cpu);
    history_->node().put(node, node_column::kMemory, memory);
    history_->node().put(node, node_column::kSystemCpu, 2);
    history_->node().put(node, node_column::kSystemMemory, 8e9);
    look_.node.usage.cpu = cpu;
    look_.node.usage.memory = Bytes{static_cast<int64_t>(memory)};
  }

  void speak(size_t which, bool isCounted) {
    Voice& voice = *voices_[which];
    voice.reporter.tick(look_, [] { return Predicted{}; });
    voice.owner.drain();
    if (voice.taker.writes == voice.seen) return;
    voice.seen = voice.taker.writes;
    voice.sell(look_.at);
    if (isCounted) {
      // The reference puts whole objects.
      const bool isWhole = kRhythms[which] == Rhythm::kReference;
      voice.bodies.push_back(isWhole ? json::write(json::Object{{"status", voice.taker.status}})
                                     : voice.taker.body);
      RhythmDay& out = day_.rhythms[which];
      ++out.reports;
      out.bytes += voice.bodies.back().size();
      out.longestGap = std::max(out.longestGap, look_.at - voice.wrote);
    }
    voice.wrote = look_.at;
  }

  void keepBodies(size_t which) {
    auto& all = voices_[which]->bodies;
    const size_t step = std::max<size_t>(1, all.size() / std::max<size_t>(1, options_.keepBodies));
    for (size_t i = step / 2; i < all.size(); i += step)
      day_.rhythms[which].bodies.push_back(std::move(all[i]));
  }

  const ReportDayOptions& options_;
  std::unique_ptr<Machine> machine_;
  Loads loads_;
  VirtualClock clock_{WallTime(seconds(1'750'000'000))};
  std::optional<History> history_;
  PodBook book_;
  std::vector<Shelf::Id> tracks_;
  Look look_;
  std::vector<std::unique_ptr<Voice>> voices_;
  ReportDay day_;
};

// Of nodes that sell a core or more: a hundredth of less is nobody's.
double offOfSold(const SoldAmounts& reference, const SoldAmounts& ours) {
  constexpr double kWorthIt = 1000;
  return reference.cpu < kWorthIt ? 0 : std::abs(ours.cpu - reference.cpu) / reference.cpu;
}

double wholePods(const SoldAmounts& sold) {
  return std::floor(std::max(0.0, sold.cpu) / 1000);
}

}  // namespace

std::string_view shapeName(ReportShape shape) {
  constexpr std::string_view kNames[] = {"steady", "30 % noise", "waves", "tide", "waves in step"};
  return kNames[static_cast<size_t>(shape)];
}

std::string_view rhythmName(Rhythm rhythm) {
  constexpr std::string_view kNames[] = {"reference", "ours", "ours, readers that know"};
  return kNames[static_cast<size_t>(rhythm)];
}

Result<ReportDay> liveReportDay(const ReportDayOptions& options, const Managers& managers) {
  const TempFolder folder = TempFolder::inMemory("reports");
  auto machine = machineOf(folder.path(), options.cpus);
  if (!machine) return machine.error().in("a made machine");
  return Day(options, *std::move(machine), managers).live();
}

SoldGap soldGap(const std::vector<const RhythmDay*>& reference,
                const std::vector<const RhythmDay*>& ours, const SoldAmounts& capacity) {
  SoldGap out;
  if (reference.empty() || reference.front()->sold.empty()) return out;
  const size_t minutes = reference.front()->sold.size();
  for (size_t minute = 0; minute < minutes; ++minute) {
    double theirs = 0, mine = 0, theirPods = 0, myPods = 0;
    for (size_t node = 0; node < reference.size(); ++node) {
      const SoldAmounts& a = reference[node]->sold[minute];
      const SoldAmounts& b = ours[node]->sold[minute];
      theirs += a.cpu, mine += b.cpu;
      const double ofSold = offOfSold(a, b);
      out.worstOfSold = std::max(out.worstOfSold, ofSold);
      if (ofSold > 0.01) out.over += 1 / static_cast<double>(minutes * reference.size());
      theirPods += wholePods(a), myPods += wholePods(b);
      out.worstOfNode = std::max({out.worstOfNode, std::abs(b.cpu - a.cpu) / capacity.cpu,
                                  std::abs(b.memory - a.memory) / capacity.memory});
    }
    if (theirs <= 0) continue;
    out.meanShare += (mine - theirs) / theirs / static_cast<double>(minutes);
    out.worstShare = std::max(out.worstShare, std::abs(mine - theirs) / theirs);
    if (theirPods > 0) out.pods = std::max(out.pods, std::abs(myPods - theirPods) / theirPods);
  }
  return out;
}

}  // namespace mangrove::agent
