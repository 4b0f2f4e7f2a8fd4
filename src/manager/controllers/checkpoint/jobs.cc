// How FlinkDeployments and PyTorchJobs are read: the few members that holding them back needs.
#include "api/wire/decode.h"
#include "manager/controllers/checkpoint/operators.h"

namespace mangrove::manager {

using api::field;
using api::Fields;
using api::In;
using api::via;

namespace {

struct FlinkMembers {
  FlinkJob job;
  int64_t savepointMs = 0;
};

}  // namespace

static bool readJobSpec(const In& in, FlinkJob& out) {
  static constexpr Fields fields{field<&FlinkJob::state>("state"),
                                 field<&FlinkJob::upgradeMode>("upgradeMode")};
  out.hasJob = true;
  return fields.read(in, out);
}
static bool readSpec(const In& in, FlinkJob& out) {
  static constexpr Fields fields{via<readJobSpec>("job")};
  return fields.read(in, out);
}
static bool readLast(const In& in, FlinkMembers& out) {
  static constexpr Fields fields{field<&FlinkMembers::savepointMs>("timeStamp")};
  return fields.read(in, out);
}
static bool readInfo(const In& in, FlinkMembers& out) {
  static constexpr Fields fields{via<readLast>("lastSavepoint")};
  return fields.read(in, out);
}
static bool readRuns(const In& in, FlinkJob& out) {
  static constexpr Fields fields{field<&FlinkJob::runs>("state")};
  return fields.read(in, out);
}
static bool readJobStatus(const In& in, FlinkMembers& out) {
  static constexpr Fields fields{via<readInfo>("savepointInfo")};
  return readRuns(in, out.job) && fields.read(in, out);
}
static bool readLifecycle(const In& in, FlinkJob& out) {
  static constexpr Fields fields{field<&FlinkJob::lifecycle>("lifecycleState")};
  return fields.read(in, out);
}
static bool readStatus(const In& in, FlinkMembers& out) {
  static constexpr Fields fields{via<readJobStatus>("jobStatus")};
  return readLifecycle(in, out.job) && fields.read(in, out);
}
static bool readMeta(const In& in, FlinkMembers& out) {
  return read(in, out.job.meta);
}
static bool readFlinkSpec(const In& in, FlinkMembers& out) {
  return readSpec(in, out.job);
}

bool read(const In& in, FlinkJob& out) {
  static constexpr Fields fields{via<readMeta>("metadata"), via<readFlinkSpec>("spec"),
                                 via<readStatus>("status")};
  FlinkMembers members;
  if (!fields.read(in, members)) return false;
  out = std::move(members.job);
  if (members.savepointMs > 0)
    out.savepoint = WallTime(std::chrono::duration_cast<WallTime::duration>(
        std::chrono::milliseconds(members.savepointMs)));
  return true;
}

static bool readWorker(const In& in, PyTorchJob& out) {
  static constexpr Fields fields{field<&PyTorchJob::workers>("replicas")};
  out.workers = 1;
  return fields.read(in, out);
}
static bool readReplicas(const In& in, PyTorchJob& out) {
  static constexpr Fields fields{via<readWorker>("Worker")};
  return fields.read(in, out);
}
static bool readElastic(const In& in, PyTorchJob& out) {
  static constexpr Fields fields{field<&PyTorchJob::least>("minReplicas")};
  return fields.read(in, out);
}
static bool readTorchSpec(const In& in, PyTorchJob& out) {
  static constexpr Fields fields{via<readReplicas>("pytorchReplicaSpecs"),
                                 via<readElastic>("elasticPolicy")};
  return fields.read(in, out);
}
bool read(const In& in, PyTorchJob& out) {
  static constexpr Fields fields{field<&PyTorchJob::meta>("metadata"), via<readTorchSpec>("spec")};
  return fields.read(in, out);
}

}  // namespace mangrove::manager
