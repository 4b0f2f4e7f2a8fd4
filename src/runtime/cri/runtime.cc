#include "runtime/cri/runtime.h"

#include <fcntl.h>

#include "net/http/grpc_socket.h"

namespace mangrove::runtime::cri {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kUsual = minutes(2);
constexpr Duration kSlow = minutes(4);  // as long as a kubelet waits for sandboxes
constexpr Duration kPull = minutes(60);

constexpr const char* kVersion = "/runtime.v1.RuntimeService/Version";
constexpr const char* kStatus = "/runtime.v1.RuntimeService/Status";

Code codeOf(int status) {
  switch (status) {
    case 3:
      return Code::kInvalid;
    case 4:
      return Code::kTimeout;
    case 5:
      return Code::kNotFound;
    case 6:
      return Code::kExists;
    case 7:
      return Code::kDenied;
    case 12:
      return Code::kUnsupported;
    case 14:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

// What the runtime said, its refusals as errors.
Result<std::string> messageOf(Result<net::GrpcReply> reply) {
  if (!reply) return pass(reply.error());
  if (reply->status != 0) return fail(codeOf(reply->status), "{}", reply->text);
  return std::move(reply->message);
}

Result<UniqueFd> connectTo(const std::string& path) {
  auto socket = net::connectUnix(path);
  if (socket) ::fcntl(socket->get(), F_SETFL, ::fcntl(socket->get(), F_GETFL) | O_NONBLOCK);
  return socket;
}

}  // namespace

Runtime::Runtime(FdLoop& loop, Clock& clock, Mailbox& owner, std::string socket)
    : owner_(owner),
      channel_(GrpcChannel::make(loop, clock, "localhost",
                                 [socket = std::move(socket)] { return connectTo(socket); })) {}

Runtime::~Runtime() {
  life_.end();
  channel_->close();
}

template <class T, class Read>
void Runtime::call(const char* method, std::string message, Duration timeout, Read read,
                   Done<T> done) {
  channel_->call(method, std::move(message), timeout,
                 [&owner = owner_, life = life_.token(), read,
                  done = std::move(done)](Result<net::GrpcReply> reply) mutable {
                   auto bytes = messageOf(std::move(reply));
                   auto value = bytes ? Result<T>(read(*bytes)) : Result<T>(pass(bytes.error()));
                   owner.post([life, done = std::move(done), value = std::move(value)]() mutable {
                     if (!life.gone()) done(std::move(value));
                   });
                 });
}

void Runtime::order(const char* method, std::string message, Duration timeout, Over done) {
  call<std::string>(
      method, std::move(message), timeout, [](const std::string&) { return std::string(); },
      [done = std::move(done)](Result<std::string> answer) mutable {
        if (done) done(answer ? Result<>() : Result<>(pass(answer.error())));
      });
}

void Runtime::runSandbox(const SandboxConfig& config, const std::string& handler,
                         Done<std::string> done) {
  call<std::string>("/runtime.v1.RuntimeService/RunPodSandbox", writeRunSandbox(config, handler),
                    kSlow, readText, std::move(done));
}
void Runtime::stopSandbox(const std::string& id, Over done) {
  order("/runtime.v1.RuntimeService/StopPodSandbox", writeId(id), kSlow, std::move(done));
}
void Runtime::removeSandbox(const std::string& id, Over done) {
  order("/runtime.v1.RuntimeService/RemovePodSandbox", writeId(id), kSlow, std::move(done));
}
void Runtime::sandboxes(const Texts& labels, Done<std::vector<Sandbox>> done) {
  call<std::vector<Sandbox>>("/runtime.v1.RuntimeService/ListPodSandbox",
                             writeListSandboxes(labels), kUsual, readSandboxes, std::move(done));
}
void Runtime::sandboxStatus(const std::string& id, Done<Sandbox> done) {
  call<Sandbox>("/runtime.v1.RuntimeService/PodSandboxStatus", writeIdVerbose(id), kUsual,
                readSandboxStatus, std::move(done));
}

void Runtime::createContainer(const std::string& sandbox, const ContainerConfig& config,
                              const SandboxConfig& pod, Done<std::string> done) {
  call<std::string>("/runtime.v1.RuntimeService/CreateContainer",
                    writeCreateContainer(sandbox, config, pod), kSlow, readText, std::move(done));
}
void Runtime::startContainer(const std::string& id, Over done) {
  order("/runtime.v1.RuntimeService/StartContainer", writeId(id), kSlow, std::move(done));
}
void Runtime::stopContainer(const std::string& id, Duration grace, Over done) {
  const int64_t whole = std::chrono::duration_cast<seconds>(grace).count();
  order("/runtime.v1.RuntimeService/StopContainer", writeStopContainer(id, whole), grace + kUsual,
        std::move(done));
}
void Runtime::removeContainer(const std::string& id, Over done) {
  order("/runtime.v1.RuntimeService/RemoveContainer", writeId(id), kUsual, std::move(done));
}
void Runtime::containers(const std::string& sandbox, Done<std::vector<ContainerStatus>> done) {
  call<std::vector<ContainerStatus>>("/runtime.v1.RuntimeService/ListContainers",
                                     writeListContainers(sandbox), kUsual, readContainers,
                                     std::move(done));
}
void Runtime::containerStatus(const std::string& id, Done<ContainerStatus> done) {
  call<ContainerStatus>("/runtime.v1.RuntimeService/ContainerStatus", writeIdVerbose(id), kUsual,
                        readContainerStatus, std::move(done));
}
void Runtime::reopenLog(const std::string& id, Over done) {
  order("/runtime.v1.RuntimeService/ReopenContainerLog", writeId(id), kUsual, std::move(done));
}
void Runtime::execSync(const ExecOrder& wanted, Duration limit, Done<ExecResult> done) {
  const int64_t whole = std::max<int64_t>(1, std::chrono::ceil<seconds>(limit).count());
  call<ExecResult>("/runtime.v1.RuntimeService/ExecSync", writeExecSync(wanted, whole),
                   limit + seconds(5), readExecResult, std::move(done));
}
void Runtime::exec(const ExecOrder& wanted, Done<std::string> done) {
  call<std::string>("/runtime.v1.RuntimeService/Exec", writeExec(wanted), kUsual, readText,
                    std::move(done));
}
void Runtime::attach(const ExecOrder& wanted, Done<std::string> done) {
  call<std::string>("/runtime.v1.RuntimeService/Attach", writeAttach(wanted), kUsual, readText,
                    std::move(done));
}

void Runtime::imageStatus(const std::string& image, Done<std::optional<Image>> done) {
  call<std::optional<Image>>("/runtime.v1.ImageService/ImageStatus", writeImage(image), kUsual,
                             readImageStatus, std::move(done));
}
void Runtime::images(Done<std::vector<Image>> done) {
  call<std::vector<Image>>("/runtime.v1.ImageService/ListImages", "", kUsual, readImages,
                           std::move(done));
}
void Runtime::pullImage(const std::string& image, const std::optional<Credentials>& credentials,
                        Done<std::string> done) {
  call<std::string>("/runtime.v1.ImageService/PullImage", writePull(image, credentials, nullptr),
                    kPull, readText, std::move(done));
}
void Runtime::removeImage(const std::string& id, Over done) {
  order("/runtime.v1.ImageService/RemoveImage", writeImage(id), kUsual, std::move(done));
}
void Runtime::imageDisk(Done<std::vector<ImageDisk>> done) {
  call<std::vector<ImageDisk>>("/runtime.v1.ImageService/ImageFsInfo", "", kUsual, readImageDisk,
                               std::move(done));
}

Result<Greeting> greet(const std::string& socket, Duration timeout) {
  auto version = messageOf(net::grpcCall(socket, kVersion, "", timeout));
  auto read = version ? readVersion(*version) : pass(version.error());
  if (!read) return read.error().in("container runtime at {}", socket);
  auto status = messageOf(net::grpcCall(socket, kStatus, writeStatus(true), timeout));
  auto told = status ? readStatus(*status) : pass(status.error());
  if (!told) return told.error().in("container runtime at {}", socket);
  return Greeting{std::move(*read), std::move(*told)};
}

}  // namespace mangrove::runtime::cri
