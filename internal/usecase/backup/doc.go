// Package backup writes backups of objects before lynqctl changes or deletes them.
//
// Names and texts flow in, files flow out. Only their owner may read them. The package
// never overwrites a file.
package backup
