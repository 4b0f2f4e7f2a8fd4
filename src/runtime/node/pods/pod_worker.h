#pragma once
// One pod on this machine: keeps what runs and what is reported in step with what is wanted. The
// thinking is in core/ (decide, podStatus); this does what they say, one slow thing at a time.
//
//   auto worker = PodWorker::make(parts, pod);
//   worker->update(newer);               // the object changed; null: it is gone
//   worker->begin();                     // finds a shim of an earlier runner, or starts afresh
//
// Owner thread throughout. Slow work runs in parts.preparing and comes back as messages. Probes
// (prober.h), volumes (pod_volumes.h) and the status (status_writer.h) are jobs of their own.
//
// What must stay true, and why:
// - busy_ is set while something is under way whose end comes as a message, and every end clears
//   it, failure too: sync() does nothing meanwhile, so a forgotten one leaves the pod for good.
// - What a callback finds may be another world: it holds the worker weakly, and after leave() (the
//   runner ends, the pod stays) it changes nothing.
// - Address and host ports go back only after the cgroup is empty (onTakenDown): the next pod could
//   otherwise be answered for by processes of this one.
// - The last status is on the server before the traces go (end()): a runner killed in between finds
//   one or the other.
// - record_ is our memory, the object's status an echo of it: read again only where no memory is.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "net/loop.h"
#include "runtime/core/names.h"
#include "runtime/core/pod_actions.h"
#include "runtime/core/pod_model.h"
#include "runtime/cri/image_keeper.h"
#include "runtime/cri/runtime_link.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/network/host_ports.h"
#include "runtime/node/network/network.h"
#include "runtime/node/pods/pod_prep.h"
#include "runtime/node/pods/pod_volumes.h"
#include "runtime/node/pods/prober.h"
#include "runtime/node/pods/running_runs.h"
#include "runtime/node/pods/status_writer.h"
#include "runtime/node/sessions/pod_link.h"
#include "runtime/node/sessions/shim_link.h"

namespace mangrove::runtime {

// The container runtime of this machine, where there is one.
struct RuntimeHouse {
  cri::RuntimeParts parts;
  cri::ImageKeeper& images;
  std::string name;         // containerd, cri-o: what ids begin with
  std::string runner;       // value of the label on our pods
  bool ownNetwork = false;  // its pods are on our bridge, with addresses of ours
};

// What all workers share; outlives them.
struct WorkerParts {
  Mailbox& owner;
  Clock& clock;
  FdLoop& loop;
  client::ApiClient& client;
  client::EventRecorder& events;
  const Cgroups& cgroups;
  const NodeFacts& node;
  PodPrep& prep;
  Network& network;
  net::Loop& io;
  RunningRuns& running;
  HostPorts& ports;
  NameBook& names;
  const RuntimeHouse* runtime = nullptr;  // null: we run everything ourselves
};

class PodWorker : public std::enable_shared_from_this<PodWorker> {
 public:
  // `preparing`: the thread for this pod's slow work. `gone` runs once, when nothing is left of the
  // pod here and the worker can be forgotten.
  static std::shared_ptr<PodWorker> make(WorkerParts& parts, Mailbox& preparing, RunPodPtr pod,
                                         Fn gone);
  ~PodWorker();

  void begin();
  // The pod will not run here and ends as Failed; before begin().
  void refuse(std::string reason, std::string message);
  void update(RunPodPtr pod);
  // Looks whether files from ConfigMaps and the like have changed.
  void refreshVolumes();
  // Measures what it has on disk and evicts it when that is more than its limits.
  void checkStorage();
  // The runner stops; pods and their shims stay.
  void leave();
  // The runner stops for good: the pod's processes end and nothing stays here but its log; the
  // object on the server is left as it is. `gone` runs when that is done.
  void halt();

  const RunPod& pod() const { return *pod_; }
  bool isAbsent() const { return absent_; }  // the server has it no more; what is left goes
  const PodRecord& record() const { return record_; }
  int64_t shimPid() const { return shimPid_; }

  struct ExecEnd {
    std::optional<int> exitCode;
    std::string trouble;
  };
  // A process in a running container. The descriptors are the process's and are closed here.
  // Returns the id by which it can be killed.
  std::string exec(const std::string& container, const std::vector<std::string>& argv, bool tty,
                   std::vector<UniqueFd> fds, UniqueFn<void(ExecEnd)> done,
                   Duration limit = Duration::zero());
  void killExec(const std::string& id);
  // Gives a running container's streams to `socket` (frames of shim_container.h).
  Result<> attach(const std::string& container, UniqueFd socket);
  void resize(const std::string& container, uint16_t columns, uint16_t rows);
  // True when a container runtime carries the session, without pipes of ours. Without a command it
  // is attached.
  bool carry(const std::string& container, const frame::SessionOptions& options,
             std::unique_ptr<frame::Session>& session) {
    return link_ && link_->carry(container, options, session);
  }

  WorkerParts& parts() { return parts_; }
  const ContainerSpec* specOf(const std::string& name) const;

 private:
  PodWorker(WorkerParts& parts, Mailbox& preparing, RunPodPtr pod, Fn gone);

  void clearAway();
  void sync();
  void act(PodActions next);
  void makeSandbox();
  void startShim();
  void runInRuntime(const std::string& handler);
  cri::RuntimePlace placeInRuntime();
  cri::SandboxConfig sandboxConfig() const;
  PodLink::Handler hearing();
  bool isImageHeld(const std::string& container);
  void fetchImage(const std::string& container);
  void onImage(const std::string& container, cri::HeldImage image);
  void onRefused(const Message& message);
  std::string idText(std::string_view id) const;
  void setUpNetwork();
  void sandboxReady();
  void sandboxFailed(const std::string& reason, const Error& error);
  void dropSandbox(const Error& error);
  std::optional<Error> sysctlTrouble(const ShimStart& start) const;
  void startContainer(const std::string& name);
  void onBuilt(const std::string& name, Result<BuiltContainer> built);
  void stopContainer(const std::string& name);
  void terminate(const std::string& name);
  void runHook(const std::string& container, const api::Action& hook, const char* which,
               UniqueFn<void(bool)> done);
  ProbeDesk probeDesk();
  void probed(const std::string& container, const ProbeNews& news);
  bool hasFiles() const;
  void end();
  void takeDown();
  void removeTraces();
  bool resizeIfAsked();
  void onResized(const RunPod& pod, const std::vector<std::pair<std::string, std::string>>& runs,
                 Result<> done);
  void signalIfAsked(const RunPod& before, const RunPod& after);
  void openHostPorts();
  void onTakenDown(Result<> result);
  void finishDeletion();

  void onMessage(Result<Message> message);
  void onState(const Message& message);
  void onStarted(const Message& message);
  void onExited(const Message& message);
  void onShimLost(const Error& error);
  void recover(const json::Object& state);
  void recordExit(ContainerRecord& record, const json::Object& state);
  void readLeftStates();
  void addLogTail(const std::string& name, ExitRecord& run) const;

  // Work on the preparing thread, its result here; nothing else begins meanwhile.
  template <class T, class Work, class Then>
  static void inBackground(PodWorker& self, Work work, Then then);
  void publish();
  void wakeIn(Duration delay);
  void wakeAt(std::optional<WallTime> when);
  static constexpr Duration kRetryPrepare = std::chrono::seconds(2);
  Duration graceOf() const;
  std::string cgroupPath() const;
  api::ObjectRef ref() const;
  ContainerRecord& recordOf(const std::string& name);

  WorkerParts& parts_;
  Mailbox& preparing_;
  RunPodPtr pod_;
  Fn gone_;
  bool absent_ = false;  // the object is not on the server any more
  PodRecord record_;
  std::vector<ContainerSpec> specs_;
  std::unique_ptr<PodLink> link_;
  ShimLink* shim_ = nullptr;  // the link, when it is one of ours
  const bool inRuntime_;      // a container runtime runs it
  struct ImageWait {
    int failures = 0;
    WallTime due = kZeroTime;
    std::string trouble;
    bool said = false;
    std::optional<cri::HeldImage> held;  // for the start that is under way
  };
  std::map<std::string, ImageWait> imageWaits_;  // by container
  int64_t shimPid_ = 0;
  bool networkAsked_ = false;
  bool busy_ = false, again_ = false, begun_ = false, takenDown_ = false, finished_ = false;
  bool left_ = false;
  bool ending_ = false;  // the last status is on its way
  bool told_ = false;    // an earlier runner has written the last status
  bool halting_ = false;
  uint64_t nextExec_ = 1;
  std::map<std::string, UniqueFn<void(ExecEnd)>> execs_;
  std::map<std::string, Timer> killTimers_;
  Prober prober_;
  PodVolumes volumes_;
  StatusWriter status_;
  Timer wake_;
};

}  // namespace mangrove::runtime
