// What nearly every file of the layers below json reads; see cmake/Precompile.cmake.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fn.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/number/units.h"
#include "base/os/files.h"
#include "base/result.h"
#include "base/text/strings.h"
