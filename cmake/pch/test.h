// What every test reads besides; see cmake/Precompile.cmake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
