package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// The phases of a hook of a node that goes, beside PhaseCompleted, after which it is not
// run again: what it was for may be gone by then. An object of a hook that is there without
// a phase is left from a deletion that did not take place.
const (
	PhaseRunning Phase = "Running" // it is about to be created, or was
	PhaseFailed  Phase = "Failed"  // it was seen to fail: it is deleted, and created again
)

// HooksName is the name of the Secret with the manifests of a node's hooks. It has a
// key for each, their digest, so that what an inventory names and what it is about to
// name are both in it.
func HooksName(node string) string { return wellknown.NodeHooksPrefix + node }

// HookDigest is the digest of a hook's manifest: of all of a SHA-256, for what it says
// is run.
func HookDigest(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return hex.EncodeToString(sum[:])
}

// All are the entries of all objects that the node may have: Entries, and the hooks
// that were begun.
func (inv *Inventory) All() []Entry {
	if len(inv.Hooks) == 0 {
		return inv.Entries
	}
	begun := slices.DeleteFunc(slices.Clone(inv.Hooks), func(r Entry) bool { return r.Phase == "" })
	return sorted(slices.Concat(inv.Entries, begun))
}

// withoutHooks tells entries and hooks apart.
func withoutHooks(all []Entry) (entries, hooks []Entry) {
	if !slices.ContainsFunc(all, func(r Entry) bool { return r.Hook() }) {
		return all, nil
	}
	for i := range all {
		if all[i].Hook() {
			hooks = append(hooks, all[i])
		} else {
			entries = append(entries, all[i])
		}
	}
	return entries, hooks
}

// SortedHooks are the hooks of an inventory in the order in which they are recorded.
func SortedHooks(inv *Inventory) []Entry { return sorted(inv.Hooks) }
