// Package dbtest gives tests real database servers. It starts MariaDB and PostgreSQL in a
// temporary directory on a free loopback port, with TLS and users with passwords. In the
// end, it removes them.
//
// A test binary has one Servers, which its TestMain creates and stops. Each server starts
// when the first test asks for it. Connections flow out. If a server's programs aren't
// installed, the package skips the test, or fails it with CI=true. On Linux, the servers
// die with the test process, however that ends. The package never uses a server that it
// didn't start.
package dbtest
