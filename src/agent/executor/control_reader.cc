#include "agent/executor/control_reader.h"

#include "agent/executor/plain_file.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {

std::optional<std::string> ControlReader::path(std::string_view cgroup,
                                               std::string_view resource) const {
  const FileRule* rule = ruleOf(resource);
  if (rule && rule->place == Place::kPath) return std::string(cgroup);
  const kernel::ControlResource* control = kernel::findResource(resource);
  return control ? kernel::filePath(machine_.trees(), *control, cgroup) : std::nullopt;
}

Result<std::optional<FileValue>> ControlReader::read(const FileRule& rule, const std::string& path,
                                                     std::string_view entry) const {
  const auto version = machine_.trees().version();
  if (rule.resource == kPlainFile) {
    auto text = readPlainFile(machine_.root(), path);
    if (!text) return pass(text.error());
    return parseValue(rule, *text, version);
  }
  char buffer[16384];
  auto size = machine_.root().read(path, buffer);
  if (!size) return pass(size.error());
  if (!*size) return std::nullopt;
  const std::string_view text(buffer, **size);
  if (rule.section != Section::kWhole) {
    const auto part = sectionOf(rule, text, entry);
    if (!part) return std::nullopt;
    return parseValue(rule, *part, version);
  }
  auto value = parseValue(rule, text, version);
  if (!value) return pass(value.error());
  return *std::move(value);
}

std::optional<FileValue> ControlReader::present(const FileKey& key) const {
  const FileRule* rule = ruleOf(key.resource);
  // What v2 really grants is in another file than what it was asked for.
  const bool effective = key.resource == kernel::resource_name::kCpuset && machine_.trees().isV2();
  const auto where =
      path(key.cgroup, effective ? kernel::resource_name::kCpusetEffective : key.resource);
  if (!rule || !where) return std::nullopt;
  auto value = read(*rule, *where, key.entry);
  return value ? *std::move(value) : std::nullopt;
}

std::vector<int> ControlReader::members(std::string_view cgroup, std::string_view resource) const {
  std::vector<int> out;
  const auto where = path(cgroup, resource);
  const auto found = where ? text(*where) : std::nullopt;
  if (!found) return out;
  for (std::string_view line : split(*found, '\n'))
    if (const auto pid = parseInt<int>(trim(line))) out.push_back(*pid);
  return out;
}

std::optional<std::string> ControlReader::text(std::string_view path) const {
  auto found = kernel::readText(machine_.root(), path);
  return found ? *std::move(found) : std::nullopt;
}

}  // namespace mangrove::agent
