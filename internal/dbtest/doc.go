// Package dbtest gives tests real database servers: it starts MariaDB and
// PostgreSQL in a temporary directory, on a free loopback port, with TLS and
// with users whose passwords are set, and takes them away again.
//
// A test binary has one Servers, which its TestMain makes and stops; each server
// starts when the first test asks for it. Where its programs are not installed
// the test is skipped, or fails where the environment has CI=true. On Linux the
// servers die with the test process, however it ends.
package dbtest
