// Package sighted notes which versions of objects were ready, so that the next run needn't
// read unchanged objects.
//
// Objects with their uids and versions flow in. A note of limited size flows out, which the
// next run compares with the objects that it sees. Anybody who may change a hub record can
// forge a note. So a note only saves reads for the run's report, and a forged one only hides
// that an object isn't ready. It never makes lynqctl write, delete or wait for an object.
//
// The package reads and writes nothing.
package sighted
