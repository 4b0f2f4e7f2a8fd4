// Every strategy on a real kernel: cgroups of our own with real processes in them, either version.
// The files hold what the rules say, and afterwards what they held before. Skipped by name where
// cgroups cannot be made.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/gates.h"
#include "agent/qos/enforcer.h"
#include "agent/testing/scene.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;
using kernel::Controller;
using kernel::Feature;

constexpr Controller kControllers[] = {Controller::kCpu, Controller::kCpuacct, Controller::kCpuset,
                                       Controller::kMemory, Controller::kBlkio};

// A kubelet's tree below a parent of the test's, with a sleeping process in each container.
class RealTree {
 public:
  RealTree(std::string parent, const kernel::Hierarchies& trees)
      : parent_(std::move(parent)), trees_(trees) {}
  ~RealTree() {
    for (int pid : processes_) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
    for (auto it = made_.rbegin(); it != made_.rend(); ++it)
      for (int tries = 0; tries < 50 && ::rmdir(it->c_str()) != 0 && errno == EBUSY; ++tries)
        ::usleep(2000);
  }
  Result<> group(const std::string& cgroup, bool leaf) {
    std::set<std::string> done;
    for (Controller c : kControllers) {
      if (!trees_.has(c)) continue;
      const std::string path = "/" + trees_.path(c, cgroup);
      if (!done.insert(path).second || fs::exists(path)) continue;
      if (::mkdir(path.c_str(), 0755) != 0)
        return fail(Code::kIo, "make {}: {}", path, std::strerror(errno));
      made_.push_back(path);
      if (!trees_.isV2() && c == Controller::kCpuset) inherit(path);
      if (trees_.isV2() && !leaf) handDown(path);
    }
    return {};
  }
  void process(const std::string& cgroup) {
    const int pid = ::fork();
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    processes_.push_back(pid);
    for (Controller c : kControllers)
      if (trees_.has(c)) put("/" + trees_.path(c, cgroup) + "/cgroup.procs", std::to_string(pid));
  }
  static bool put(const std::string& path, const std::string& text) {
    std::ofstream out(path);
    return static_cast<bool>(out << text << std::flush);
  }
  // Every control file of ours, by name.
  std::map<std::string, std::string> snapshot() const {
    std::map<std::string, std::string> out;
    for (const std::string& dir : made_)
      for (const FileRule& rule : fileRules()) {
        const kernel::ControlResource* control = kernel::findResource(rule.resource);
        if (control == nullptr) continue;
        const std::string path = dir + "/" + std::string(control->fileOf(trees_.version()).name);
        if (auto text = readFile(path); text && fs::is_regular_file(path)) out[path] = *text;
      }
    return out;
  }

 private:
  static void inherit(const std::string& path) {
    const std::string above = fs::path(path).parent_path();
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"})
      if (auto text = readFile(above + file)) put(path + file, *text);
  }
  static void handDown(const std::string& path) {
    for (const char* one : {"+cpu", "+cpuset", "+memory", "+io"})
      put(path + "/cgroup.subtree_control", one);
  }
  std::string parent_;
  const kernel::Hierarchies& trees_;
  std::vector<std::string> made_;
  std::vector<int> processes_;
};

const std::string kLs = "kubepods/burstable", kBe = "kubepods/besteffort";
const std::string kWeb = kLs + "/podweb", kJob = kBe + "/podjob";

class RealEnforce : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "needs root to make cgroups";
    parent_ = fmt::format("mangrove-enforce-{}", ::getpid());
    kernel::Mounts mounts;
    mounts.cgroupParent = parent_;
    auto found = kernel::Hierarchies::detect(kernel::SysRoot("/"), mounts);
    ASSERT_TRUE(found);
    trees_ = std::make_unique<kernel::Hierarchies>(*found);
    tree_.emplace(parent_, *trees_);
    for (const std::string& group :
         {std::string(""), std::string("kubepods"), kLs, kBe, kWeb, kJob})
      if (auto ok = tree_->group(group, false); !ok)
        GTEST_SKIP() << "cannot make cgroups here: " << ok.error().text();
    for (const std::string& leaf : {kWeb + "/cweb", kJob + "/cjob"}) {
      ASSERT_TRUE(tree_->group(leaf, true));
      tree_->process(leaf);
    }
    before_ = tree_->snapshot();
    AgentOptions options;
    options.machine = liveMachine();
    options.machine.mounts = mounts;
    options.machine.driver = kernel::CgroupDriver::kCgroupfs;
    options.topology.enabled = true;
    options.collect.storage = true;
    scene_ = std::make_unique<testing::Scene>("/", options);
    gates_.emplace([] {
      std::vector<GateInfo> all(agentGates().begin(), agentGates().end());
      all.insert(all.end(), hookGates().begin(), hookGates().end());
      return all;
    }());
    for (const char* gate : {"CgroupReconcile=true", "OOMScoreAdj=true", "BlkIOReconcile=true"})
      ASSERT_TRUE(gates_->set(gate));
  }
  void TearDown() override {
    enforcer_.reset();
    scene_.reset();
    tree_.reset();
  }

  void pod(const char* name, const char* uid, const char* qos, const char* kube,
           const std::string& resources, const std::string& annotations = "{}") {
    const std::string json = fmt::format(
        R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}",)"
        R"("resourceVersion":"{}","labels":{{"koordinator.sh/qosClass":"{}"}},"annotations":{}}},)"
        R"("spec":{{"nodeName":"n1","containers":[{{"name":"main","resources":{}}}]}},)"
        R"("status":{{"phase":"Running","qosClass":"{}","containerStatuses":[{{"name":"main",)"
        R"("containerID":"containerd://c{}","state":{{"running":{{}}}}}}]}}}})",
        name, uid, version_++, qos, annotations, resources, kube, name);
    running_ ? scene_->event("Pod", "MODIFIED", json) : scene_->put("Pod", json);
  }
  void slo(const std::string& members) {
    const std::string json = fmt::format(
        R"({{"kind":"NodeSLO","metadata":{{"name":"n1","resourceVersion":"{}"}},"spec":{{{}}}}})",
        version_++, members);
    running_ ? scene_->event("NodeSLO", "MODIFIED", json) : scene_->put("NodeSLO", json);
  }
  void start() {
    const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    scene_->put("Node",
                fmt::format(R"({{"kind":"Node","metadata":{{"name":"n1","resourceVersion":"2"}},)"
                            R"("status":{{"capacity":{{"cpu":"{0}","memory":"2Gi"}},)"
                            R"("allocatable":{{"cpu":"{0}","memory":"2Gi"}}}}}})",
                            cpus));
    scene_->start();
    running_ = true;
    enforcer_ = std::make_unique<Enforcer>(
        EnforcerSetup{scene_->agent().machine(), scene_->clock, *gates_, audit_}, EnforcerOptions{},
        defaultStrategies());
    scene_->agent().onLook([this](const Look& look) {
      enforcer_->tick(look, scene_->agent().node().get(), scene_->agent().topology().get());
    });
  }
  bool can(Feature feature) { return scene_->agent().machine().can().has(feature); }
  std::string read(const std::string& cgroup, const char* resource) {
    const auto path = kernel::filePath(*trees_, *kernel::findResource(resource), cgroup);
    auto text = path ? readFile("/" + *path) : Result<std::string>("");
    return text ? std::string(trim(*text)) : "(none)";
  }
  int64_t quota(const std::string& cgroup) {
    const std::string text = read(cgroup, "cpu.cfs_quota_us");
    const std::string first = text.substr(0, text.find(' '));
    return first == "max" || first == "-1" ? kUnlimited : std::stoll(first);
  }
  // The kernel has what we wanted, file by file.
  void everythingIsInForce() {
    for (const auto& [key, held] : enforcer_->executor().held()) {
      const FileRule& rule = *ruleOf(key.resource);
      const auto now = enforcer_->executor().present(key);
      ASSERT_TRUE(now) << key.cgroup << " " << key.resource;
      EXPECT_TRUE(sameValue(rule, *now, held.wanted, trees_->version()))
          << key.cgroup << " " << key.resource << ": wanted " << showValue(rule, held.wanted)
          << ", has " << showValue(rule, *now) << " " << held.trouble;
    }
  }

  // A v2 cpuset that said nothing has all CPUs now: the kernel does not let it be emptied.
  void everythingIsAsBefore() {
    const std::string all = scene_->agent().machine().cpus().online.text() + "\n";
    const auto after = tree_->snapshot();
    for (const auto& [path, text] : before_) {
      const bool wasOpen = path.ends_with("/cpuset.cpus") && trim(text).empty();
      EXPECT_EQ(after.at(path), wasOpen && after.at(path) == all ? all : text) << path;
    }
  }

  std::string parent_;
  std::unique_ptr<kernel::Hierarchies> trees_;
  std::optional<RealTree> tree_;
  std::map<std::string, std::string> before_;
  std::unique_ptr<testing::Scene> scene_;
  std::optional<FeatureGates> gates_;
  AuditLog audit_;
  std::unique_ptr<Enforcer> enforcer_;
  int version_ = 10;
  bool running_ = false;
};

const char* const kBatch =
    R"({"requests":{"kubernetes.io/batch-cpu":"500","kubernetes.io/batch-memory":"64Mi"},)"
    R"("limits":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"64Mi"}})";
const char* const kService =
    R"({"requests":{"cpu":"1","memory":"64Mi"},"limits":{"cpu":"1","memory":"128Mi"}})";
// A disk of this machine, "" when it has none.
std::string anyDisk() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/sys/block", none)) {
    const std::string name = entry.path().filename();
    for (const char* kind : {"vd", "sd", "nvme"})
      if (name.starts_with(kind)) return "/dev/" + name;
  }
  return "";
}

// Limits of best-effort work on that disk.
std::string diskClasses(const std::string& disk) {
  return fmt::format(
      R"(,"resourceQOSStrategy":{{"beClass":{{"blkioQOS":{{"enable":true,"blocks":[{{"name":"{}",)"
      R"("type":"device","ioCfg":{{"readBPS":1048576,"writeIOPS":100}}}}]}}}}}})",
      disk);
}
const char* const kClasses =
    R"(,"cpuBurstStrategy":{"policy":"auto","cpuBurstPercent":100,"cfsQuotaBurstPercent":200},)"
    R"("resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":true,"minLimitPercent":50,)"
    R"("lowLimitPercent":100,"throttlingPercent":80,"oomKillGroup":0}},"beClass":{"memoryQOS":{)"
    R"("enable":true,"minLimitPercent":0,"lowLimitPercent":0,"oomKillGroup":1}}})";

TEST_F(RealEnforce, FilesHoldWhatTheRulesSay) {
  pod("web", "web", "LS", "Burstable", kService);
  pod("job", "job", "BE", "BestEffort", kBatch, R"({"koordinator.sh/oom-score-adj":"900"})");
  slo(std::string(
          R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})") +
      kClasses);
  const std::string web = kWeb + "/cweb", job = kJob + "/cjob";
  // As a kubelet would have made them.
  for (const std::string& group : {kWeb, web}) {
    const auto path = kernel::filePath(*trees_, *kernel::findResource("cpu.cfs_quota_us"), group);
    ASSERT_TRUE(RealTree::put("/" + *path, "100000"));
  }
  before_ = tree_->snapshot();
  start();
  scene_->seconds(3);
  everythingIsInForce();

  EXPECT_GE(quota(kBe), 2000) << "suppressed by quota";
  EXPECT_LE(quota(kBe), ::sysconf(_SC_NPROCESSORS_ONLN) * 65000);
  EXPECT_EQ(quota(kJob), kUnlimited) << "no child stands above the group";
  EXPECT_EQ(read(kJob, "memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(read(job, "memory.limit_in_bytes"), "67108864");
  if (can(Feature::kCpuIdle)) {
    EXPECT_EQ(read(kJob, "cpu.idle"), "1");
    EXPECT_EQ(read(kBe, "cpu.idle"), "0") << "the kubelet's";
    EXPECT_EQ(read(kWeb, "cpu.idle"), "0");
  } else {
    EXPECT_EQ(read(kJob, "cpu.shares"), trees_->isV2() ? "20" : "512");
  }
  if (can(Feature::kCfsBurst)) {
    EXPECT_EQ(read(web, "cpu.cfs_burst_us"), "100000");
  }
  if (can(Feature::kMemoryMin)) {
    EXPECT_EQ(read(web, "memory.min"), std::to_string(32 << 20));
    EXPECT_EQ(read(kWeb, "memory.low"), std::to_string(64 << 20));
    EXPECT_EQ(read("kubepods", "memory.min"), std::to_string(32 << 20)) << "the sum of its pods";
  }
  if (can(Feature::kMemoryHigh)) {
    EXPECT_EQ(read(web, "memory.high"), "120795136");
  }
  if (can(Feature::kOomGroup)) {
    EXPECT_EQ(read(kJob, "memory.oom.group"), "1");
  }
  const auto pids = enforcer_->picture().members(job, "cgroup.procs");
  ASSERT_EQ(pids.size(), 1u);
  EXPECT_EQ(*readFile(fmt::format("/proc/{}/oom_score_adj", pids[0])), "900\n");

  // CPUs: an exclusive pod takes the last one away from batch work, in the same tick.
  const long last = ::sysconf(_SC_NPROCESSORS_ONLN) - 1;
  pod("web", "web", "LSE", "Burstable", kService,
      fmt::format(R"({{"scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}"}})",
                  last));
  slo(std::string(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cpuset",)"
                  R"("cpuSuppressThresholdPercent":90})") +
      kClasses);
  scene_->event("NodeResourceTopology", "MODIFIED",
                fmt::format(R"({{"metadata":{{"name":"n1","resourceVersion":"{}","annotations":{{)"
                            R"("node.koordinator.sh/cpu-shared-pools":"[]"}}}}}})",
                            version_++));
  scene_->seconds(2);
  everythingIsInForce();
  EXPECT_EQ(read(web, "cpuset.cpus"), std::to_string(last));
  EXPECT_EQ(quota(web), kUnlimited) << "CPUs of its own";
  for (const std::string& group : {kBe, kJob, job}) {
    const auto cpus = CpuSet::parse(read(group, "cpuset.cpus"));
    ASSERT_TRUE(cpus);
    EXPECT_FALSE(cpus->contains(static_cast<int>(last))) << group;
    EXPECT_FALSE(cpus->empty()) << group;
  }

  enforcer_->leave("test");
  everythingIsAsBefore();
}

TEST_F(RealEnforce, DisksServeServicesFirst) {
  const std::string disk = anyDisk();
  if (disk.empty()) GTEST_SKIP() << "no disk here";
  pod("job", "job", "BE", "BestEffort", kBatch);
  slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})" +
      diskClasses(disk));
  start();
  scene_->seconds(3);
  everythingIsInForce();
  const bool v2 = trees_->isV2();
  const std::string weight = read(kBe, v2 ? "io.weight" : "blkio.bfq.weight");
  if (weight != "(none)" && !weight.empty()) {
    EXPECT_EQ(weight, v2 ? "default 10" : "10");
  }
  const std::string limits = read(kBe, v2 ? "io.max" : "blkio.throttle.read_bps_device");
  if (limits != "(none)") {
    EXPECT_NE(limits.find("1048576"), std::string::npos) << limits;
  }
  enforcer_->leave("test");
  everythingIsAsBefore();
}

TEST_F(RealEnforce, QuotasAreNormalised) {
  ASSERT_TRUE(gates_->set("CPUNormalization=true"));
  pod("web", "web", "LS", "Burstable", kService);
  for (const std::string& group : {kWeb, kWeb + "/cweb"}) {
    const auto path = kernel::filePath(*trees_, *kernel::findResource("cpu.cfs_quota_us"), group);
    ASSERT_TRUE(RealTree::put("/" + *path, "100000"));
  }
  before_ = tree_->snapshot();
  start();
  scene_->seconds(1);
  scene_->event("Node", "MODIFIED",
                R"({"kind":"Node","metadata":{"name":"n1","resourceVersion":"99","annotations":{)"
                R"("node.koordinator.sh/cpu-normalization-ratio":"1.20"}},)"
                R"("status":{"capacity":{"cpu":"2","memory":"2Gi"}}})");
  scene_->seconds(2);
  everythingIsInForce();
  EXPECT_EQ(quota(kWeb), 83334);
  EXPECT_EQ(quota(kWeb + "/cweb"), 83334);
  enforcer_->leave("test");
  everythingIsAsBefore();
}

// No kernel of ours has identities: weights of the real kernel, and what they were afterwards.
TEST_F(RealEnforce, WeightsStandInForIdentities) {
  pod("web", "web", "LS", "Burstable", kService);
  pod("job", "job", "BE", "BestEffort", kBatch);
  slo(R"("resourceUsedThresholdWithBE":{"enable":false},"resourceQOSStrategy":{"lsClass":{)"
      R"("cpuQOS":{"enable":true,"groupIdentity":2}},"beClass":{"cpuQOS":{"enable":true,)"
      R"("groupIdentity":-1}}})");
  start();
  if (can(Feature::kGroupIdentity)) GTEST_SKIP() << "this kernel has group identities";
  scene_->seconds(2);
  everythingIsInForce();
  EXPECT_EQ(read(kWeb, "cpu.shares"), trees_->isV2() ? "157" : "4096") << "four times one CPU";
  EXPECT_EQ(read(kLs, "cpu.shares"), trees_->isV2() ? "100" : "1024") << "the kubelet's";
  if (can(Feature::kCpuIdle)) {
    EXPECT_EQ(read(kJob, "cpu.idle"), "1");
  }
  enforcer_->leave("test");
  everythingIsAsBefore();
}

TEST_F(RealEnforce, KernelParameters) {
  if (std::getenv("MANGROVE_TEST_SYSCTL") == nullptr)
    GTEST_SKIP() << "it changes the whole machine: only in the guest (MANGROVE_TEST_SYSCTL=1)";
  ASSERT_TRUE(gates_->set("SystemConfig=true"));
  const char* const file = "/proc/sys/vm/watermark_scale_factor";
  const std::string before = *readFile(file);
  slo(R"("systemStrategy":{"watermarkScaleFactor":151})");
  start();
  scene_->seconds(2);
  everythingIsInForce();
  EXPECT_EQ(*readFile(file), "151\n");
  enforcer_->leave("test");
  EXPECT_EQ(*readFile(file), before);
}

TEST_F(RealEnforce, KillSwitchIsNeutralAtTheNextTick) {
  pod("web", "web", "LS", "Burstable", kService);
  pod("job", "job", "BE", "BestEffort", kBatch);
  slo(R"("resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"})");
  start();
  scene_->seconds(2);
  EXPECT_NE(quota(kBe), kUnlimited);
  if (can(Feature::kMemoryMin)) {
    for (const std::string& group : {kWeb, kWeb + "/cweb", kLs, std::string("kubepods")})
      EXPECT_EQ(read(group, "memory.low"), std::to_string(64 << 20)) << group << ": the floor";
    EXPECT_EQ(read(kJob, "memory.low"), "0");
  }
  if (can(Feature::kOomGroup)) {
    EXPECT_EQ(read(kJob, "memory.oom.group"), "1");
  }
  scene_->event("Node", "MODIFIED",
                R"({"kind":"Node","metadata":{"name":"n1","resourceVersion":"99","labels":{)"
                R"("node.mangrove.io/enforcement":"off"}},"status":{"capacity":{"cpu":"2"}}})");
  scene_->seconds(1);
  everythingIsAsBefore();
}

}  // namespace
}  // namespace mangrove::agent
