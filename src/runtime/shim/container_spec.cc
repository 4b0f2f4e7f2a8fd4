#include "runtime/shim/container_spec.h"

#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::runtime {

namespace {

json::Array texts(const std::vector<std::string>& list) {
  json::Array out;
  for (const auto& one : list) out.emplace_back(one);
  return out;
}

json::Array numbers(const std::vector<int64_t>& list) {
  json::Array out;
  for (int64_t one : list) out.emplace_back(one);
  return out;
}

json::Array mountsJson(const std::vector<MountSpec>& mounts) {
  json::Array out;
  for (const auto& m : mounts)
    out.push_back(json::Object{{"source", m.source},
                               {"target", m.target},
                               {"readOnly", m.readOnly},
                               {"isFile", m.isFile},
                               {"sub", m.sub}});
  return out;
}

}  // namespace

using api::field;
using api::Fields;
using api::In;

static bool read(const In& in, MountSpec& out) {
  static constexpr Fields fields{
      field<&MountSpec::source>("source"), field<&MountSpec::target>("target"),
      field<&MountSpec::readOnly>("readOnly"), field<&MountSpec::isFile>("isFile"),
      field<&MountSpec::sub>("sub")};
  return fields.read(in, out);
}

static bool read(const In& in, ContainerSpecFile& out) {
  using C = ContainerSpecFile;
  static constexpr Fields fields{field<&C::name>("name"),
                                 field<&C::id>("id"),
                                 field<&C::attempt>("attempt"),
                                 field<&C::argv>("argv"),
                                 field<&C::env>("env"),
                                 field<&C::cwd>("cwd"),
                                 field<&C::uid>("uid"),
                                 field<&C::gid>("gid"),
                                 field<&C::groups>("groups"),
                                 field<&C::cgroups>("cgroups"),
                                 field<&C::logPath>("logPath"),
                                 field<&C::logMaxBytes>("logMaxBytes"),
                                 field<&C::logMaxFiles>("logMaxFiles"),
                                 field<&C::scratch>("scratch"),
                                 field<&C::mounts>("mounts"),
                                 field<&C::devices>("devices"),
                                 field<&C::messagePath>("messagePath"),
                                 field<&C::oomScoreAdj>("oomScoreAdj"),
                                 field<&C::ownPids>("ownPids"),
                                 field<&C::sharePids>("sharePids"),
                                 field<&C::pidsOf>("pidsOf"),
                                 field<&C::ownMounts>("ownMounts"),
                                 field<&C::view>("view"),
                                 field<&C::ownRoot>("ownRoot"),
                                 field<&C::capabilities>("capabilities"),
                                 field<&C::noNewPrivileges>("noNewPrivileges"),
                                 field<&C::filter>("filter"),
                                 field<&C::maskKernel>("maskKernel"),
                                 field<&C::noDevices>("noDevices"),
                                 field<&C::hidden>("hidden"),
                                 field<&C::dataDir>("dataDir"),
                                 field<&C::firstUser>("firstUser"),
                                 field<&C::readOnlyRoot>("readOnlyRoot"),
                                 field<&C::tty>("tty"),
                                 field<&C::openStdin>("openStdin"),
                                 field<&C::stdinOnce>("stdinOnce")};
  return fields.read(in, out);
}

std::string ContainerSpecFile::text() const {
  json::Object out{{"name", name},
                   {"id", id},
                   {"attempt", attempt},
                   {"argv", texts(argv)},
                   {"env", texts(env)},
                   {"cwd", cwd},
                   {"uid", uid},
                   {"gid", gid},
                   {"groups", numbers(groups)},
                   {"cgroups", texts(cgroups)},
                   {"logPath", logPath},
                   {"logMaxBytes", logMaxBytes},
                   {"logMaxFiles", logMaxFiles},
                   {"scratch", scratch},
                   {"mounts", mountsJson(mounts)},
                   {"devices", texts(devices)},
                   {"messagePath", messagePath},
                   {"oomScoreAdj", oomScoreAdj},
                   {"ownPids", ownPids},
                   {"sharePids", sharePids},
                   {"pidsOf", pidsOf},
                   {"ownMounts", ownMounts},
                   {"view", view},
                   {"ownRoot", ownRoot},
                   {"capabilities", capabilities},
                   {"noNewPrivileges", noNewPrivileges},
                   {"filter", filter},
                   {"maskKernel", maskKernel},
                   {"noDevices", noDevices},
                   {"hidden", texts(hidden)},
                   {"dataDir", dataDir},
                   {"firstUser", firstUser},
                   {"readOnlyRoot", readOnlyRoot},
                   {"tty", tty},
                   {"openStdin", openStdin},
                   {"stdinOnce", stdinOnce}};
  return json::write(out);
}

Result<ContainerSpecFile> ContainerSpecFile::parse(std::string_view text) {
  return api::decodeText<ContainerSpecFile>(text);
}

}  // namespace mangrove::runtime
