// Package delete is the use case of lynqctl delete: it deletes nodes by their recorded
// policies. A Selection chooses them, so that finalize shares the run.
package delete
