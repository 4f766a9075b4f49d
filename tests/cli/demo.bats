# SPDX-License-Identifier: Apache-2.0
# What `make run` shows.

load helper

setup() {
	CORDON_TEST_TMP=$(ground) cordon_setup
}

@test "the demonstration shows what it promises, and leaves nothing behind" {
	run bash "$BATS_TEST_DIRNAME/../../tools/demo" "$CORDON"
	assert_success
	assert_contains "Everything forbidden was refused, everything else worked."
	refute_contains "WRONG"
	run find "$HOME" -name 'cordon-demo.*'
	assert_output ""
}

@test "inside cordon the demonstration says that it is" {
	run -125 env CORDON_INSIDE=1 bash "$BATS_TEST_DIRNAME/../../tools/demo" "$CORDON"
	assert_contains "already inside cordon"
}
