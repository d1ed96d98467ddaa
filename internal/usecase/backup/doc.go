// Package backup writes files that only their owner may read, and overwrites none.
package backup
