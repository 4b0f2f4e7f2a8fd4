#include "placement/plugins/deviceshare/device_share.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "placement/plugins/deviceshare/adaption.h"
#include "placement/plugins/deviceshare/page.h"
#include "placement/plugins/deviceshare/shape_watch.h"
#include "placement/plugins/deviceshare/shortage.h"
#include "placement/plugins/numa/align.h"

namespace mangrove::placement {
namespace {

constexpr std::string_view kNoDevices = "node(s) no devices reported";

class DeviceShare final : public Plugin,
                          public NodeLocal,
                          public Transactional,
                          public NumaHintSource {
 public:
  DeviceShare(PluginHandle handle, DeviceShareArgs args);
  std::string_view name() const override { return "DeviceShare"; }
  NodeLocal* nodeLocal() override { return this; }
  Transactional* transactional() override { return this; }
  NumaHintSource* numaHintSource() override { return args_.alignsNuma ? this : nullptr; }
  void meet(const std::vector<Plugin*>& all) override {
    for (Plugin* plugin : all)
      if (auto* choices = plugin->numaChoices()) numa_ = choices;
  }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    return std::make_unique<DevicePlan>(compileDevices(cls, cluster_.table.resources()));
  }
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod&) override {
    const auto& mine = plan.get<DevicePlan>(slot());
    if (!mine.asks) return {};
    if (!mine.refusal.empty())
      return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, mine.refusal);
    if (needsTemplate(templates(), mine.wish.request) &&
        !isTemplateAnywhere(templates(), mine.wish.request.gpu->perGpu))
      return PodVerdict::refuse(
          PodVerdict::Kind::kUnresolvable,
          fmt::format("no GPU shared resource template of ConfigMap {} is {}", args_.templatesName,
                      textOf(mine.wish.request.gpu->perGpu)));
    if (args_.keepsShapes) shapes_.saw(mine, plan.cls->requests.amount(kCpuId));
    return {};
  }

  bool filters(const PodPlan& plan) const override { return asks(plan); }
  void fits(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
            Verdict* out) const override {
    const auto& mine = plan.get<DevicePlan>(slot());
    for (size_t i = 0; i < rows.size(); i++)
      if (const auto shortage = shortageOn(mine, rows[i]))
        out[i] = {shortage->unresolvable ? Code::kUnresolvable : Code::kUnschedulable, 0,
                  numberOf(shortage->reason)};
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    return {texts_[why]};
  }
  std::string detail(const PodPlan& plan, Row row) const override {
    const DeviceBook* book = books_.find(row);
    if (std::string trouble = books_.troubleOf(row); !trouble.empty()) return trouble;
    if (!book || !book->isReported()) return std::string(kNoDevices);
    return shortageText(plan.get<DevicePlan>(slot()).wish, book->devices());
  }

  bool scores(const PodPlan& plan) const override { return asks(plan); }
  Scale scale() const override { return Scale::kShareOfMax; }
  void score(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
             int32_t* out) const override {
    const auto& mine = plan.get<DevicePlan>(slot());
    for (size_t i = 0; i < rows.size(); i++)
      if (const DeviceBook* book = books_.find(rows[i]))
        out[i] = static_cast<int32_t>(
            args_.keepsShapes ? scoreKeeping(plan, rows[i], *book)
                              : scoreDevices(mine, book->devices(), {args_.order, &args_.weights}));
  }
  uint64_t outside(const PodPlan& plan, const NodeTable&) const override {
    return asks(plan) ? books_.templatesGeneration() << 32 | shapes_.generation() : 0;
  }

  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodDelete) | bit(EventKind::kDevice) | bit(EventKind::kNodeAdd) |
           bit(EventKind::kNodeUpdate) | bit(EventKind::kReservation);
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    const DevicePlan plan = compileDevices(*pod.cls, cluster_.table.resources());
    if (!plan.refusal.empty()) return Hint::kSkip;  // no node can change that
    if (event.row == kNoRow) return Hint::kQueue;
    return shortageOn(plan, event.row) ? Hint::kSkip : Hint::kQueue;
  }

  // ---- NUMA
  HintMap numaHints(const PodPlan& plan, Row row, const std::vector<int>& nodes) const override {
    const DeviceBook* book = books_.find(row);
    if (!asks(plan) || !book || !book->isReported()) return {};
    return deviceHints(plan.get<DevicePlan>(slot()), book->devices(), nodes, terms());
  }

  // ---- decisions
  Result<> reserve(const Decision& decision) override;
  // What it holds goes with the pod, when the cluster forgets it.
  void unreserve(const Decision& decision) override { written_.erase(uidOf(decision)); }
  Result<> preBind(const Decision& decision, BindNotes& notes) override;
  void bound(const Decision& decision) override { written_.erase(uidOf(decision)); }

  std::optional<json::Value> serve(std::string_view path) override {
    return devicePage(cluster_, books_, path);
  }

 private:
  struct Written {
    api::DeviceAllocations allocations;
    std::string text;  // of the annotation
  };
  static const api::Uid& uidOf(const Decision& decision) { return decision.pod->pod->meta.uid; }
  bool asks(const PodPlan& plan) const { return plan.get<DevicePlan>(slot()).asks; }
  AllocationTerms terms() const {
    AllocationTerms out;
    out.order = args_.order;
    out.weights = &args_.weights;
    out.templates = &templates();
    return out;
  }
  const GpuTemplates& templates() const {
    if (std::exchange(templatesSeen_, books_.templatesGeneration()) != books_.templatesGeneration())
      templates_.byModel = books_.templates();
    return templates_;
  }
  int64_t scoreKeeping(const PodPlan& plan, Row row, const DeviceBook& book) const;
  std::optional<DeviceShortage> shortageOn(const DevicePlan& pod, Row row) const {
    const DeviceBook* book = books_.find(row);
    if (!book || !book->isReported()) {
      if (!pod.isOurs) return std::nullopt;
      return DeviceShortage{std::string(kNoDevices), true};
    }
    const api::Labels& labels = cluster_.table.node(row).meta.labels;
    if (auto unfit = unfitFor(pod, labels, args_)) return unfit;
    // Most pods only want to know whether: nothing is written down for them.
    if (!pod.designated && books_.loans(row).empty()) {
      auto found = allocateDevices(book->devices(), pod.wish, terms());
      if (found) return std::nullopt;
      return std::move(found.error());
    }
    auto got = chooseDevices({pod, labels, *book, books_.loans(row), terms()});
    if (got) return std::nullopt;
    return std::move(got.error());
  }
  uint32_t numberOf(const std::string& text) const {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    const auto number = static_cast<uint32_t>(found - texts_.begin());
    if (found == texts_.end()) texts_.push_back(text);
    return number;
  }
  AllocationTerms termsFor(const Decision& decision) const;
  DeviceDecision decide(const Decision& decision, const DevicePlan& mine);

  PluginHandle handle_;
  Cluster& cluster_;
  DeviceShareArgs args_;
  DeviceBooks& books_;
  const NumaChoices* numa_ = nullptr;
  mutable GpuTemplates templates_;
  mutable uint64_t templatesSeen_ = 0;
  ShapeWatch shapes_;
  mutable std::vector<std::string> texts_;         // of refusals, by number
  std::unordered_map<api::Uid, Written> written_;  // of pods on their way
};

DeviceShare::DeviceShare(PluginHandle handle, DeviceShareArgs args)
    : handle_(std::move(handle)),
      cluster_(handle_.cluster),
      args_(std::move(args)),
      books_(DeviceBooks::of(cluster_)) {
  templates_.matched = args_.templated;
  if (handle_.deeds)
    books_.tellBy([deeds = handle_.deeds](const api::Pod& pod, const std::string& what) {
      deeds->deviceTrouble(pod, what);
    });
}

// By what the node loses for others when the pod comes, whatever the strategy.
int64_t DeviceShare::scoreKeeping(const PodPlan& plan, Row row, const DeviceBook& book) const {
  const auto& mine = plan.get<DevicePlan>(slot());
  const api::Labels& labels = cluster_.table.node(row).meta.labels;
  const auto got = chooseDevices({mine, labels, book, books_.loans(row), terms()});
  if (!got) return 0;
  const NodeTable& table = cluster_.table;
  const int64_t cpu = table.allocatable(kCpuId)[row] - table.requested(kCpuId)[row];
  NodeDevices after = book.devices();
  for (const HeldCard& held : heldOf(got->allocations))
    cardOf(after, held.type, held.minor).used.add(held.amounts);
  const int64_t loss =
      fragmentsOf(roomOf(after, cpu - plan.cls->requests.amount(kCpuId)), shapes_.lately()) -
      fragmentsOf(roomOf(book.devices(), cpu), shapes_.lately());
  return scoreOfLoss(loss);
}

// Cards of the NUMA nodes that the pod's CPUs and memory come from, where a policy asks for it.
AllocationTerms DeviceShare::termsFor(const Decision& decision) const {
  AllocationTerms out = terms();
  if (!numa_ || !args_.alignsNuma) return out;
  if (const auto mask = numa_->chosen(uidOf(decision))) out.numaNodes = nodesIn(*mask);
  return out;
}

DeviceDecision DeviceShare::decide(const Decision& decision, const DevicePlan& mine) {
  const Row row = decision.row;
  const DeviceLoan* loan = books_.nominated(uidOf(decision));
  if (loan) books_.lend(row, *loan);
  const api::Labels& labels = cluster_.table.node(row).meta.labels;
  const auto choose = [&] {
    return chooseDevices({mine, labels, books_.at(row), books_.loans(row), termsFor(decision)});
  };
  const std::vector<api::Uid> seated = books_.seatNominated(row, *decision.pod);
  DeviceDecision got = choose();
  books_.unseat(row, seated);
  if (!got && !seated.empty()) got = choose();
  if (loan) books_.takeBack(row);
  return got;
}

Result<> DeviceShare::reserve(const Decision& decision) {
  const auto& mine = decision.plan.get<DevicePlan>(slot());
  if (!mine.asks) return {};
  const DeviceBook* book = books_.find(decision.row);
  if (!book || !book->isReported()) {
    if (!mine.isOurs) return {};
    return fail(mangrove::Code::kUnavailable, "{}", kNoDevices);
  }
  DeviceDecision got = decide(decision, mine);
  if (!got) return fail(mangrove::Code::kUnavailable, "{}", got.error().reason);
  const api::Uid& uid = uidOf(decision);
  std::string text = api::annotationText(got->allocations);
  books_.hold(decision.row, uid, heldOf(got->allocations), text, got->lender);
  written_[uid] = {std::move(got->allocations), std::move(text)};
  cluster_.table.touch(decision.row);
  return {};
}

Result<> DeviceShare::preBind(const Decision& decision, BindNotes& notes) {
  const auto given = written_.find(uidOf(decision));
  if (given == written_.end()) return {};
  notes.annotations.emplace_back(api::annotation::kDeviceAllocated, given->second.text);
  if (!handle_.devicePluginAdaption) return {};
  const auto isThere = [&](std::string_view ns, std::string_view name) {
    const auto& pods = cluster_.table.info(decision.row).pods;
    return std::any_of(pods.begin(), pods.end(), [&](const PodPtr& one) {
      return one->pod->meta.name.view() == name && one->pod->meta.ns.view() == ns;
    });
  };
  return adapt({*decision.pod->pod, cluster_.table.node(decision.row), given->second.allocations,
                handle_.clock.wall(), isThere},
               notes);
}

}  // namespace

Result<std::unique_ptr<Plugin>> makeDeviceShare(const json::Value& value, PluginHandle handle) {
  auto args = readDeviceShareArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<DeviceShare>(std::move(handle), std::move(*args));
}

}  // namespace mangrove::placement
