#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "satin/error.h"

namespace satin::test {

/// Fails unless `action` throws an Error of this kind whose message has one or two lines and contains
/// `piece`.
template <class Action>
void expect_error(ErrorKind kind, const std::string& piece, const Action& action) {
  try {
    static_cast<void>(action());
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), kind) << message;
    EXPECT_NE(message.find(piece), std::string::npos) << "'" << message << "' lacks '" << piece << "'";
    EXPECT_LE(std::count(message.begin(), message.end(), '\n'), 1) << message;
    return;
  }
  ADD_FAILURE() << "no error; expected one with '" << piece << "'";
}

}  // namespace satin::test
