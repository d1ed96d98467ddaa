package inventory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// These are phases of a hook of a deleted node. After PhaseCompleted, lynqctl doesn't run
// the hook again, because what the hook needs may be gone. If an object of a hook exists
// without a phase, it is left over from an aborted deletion.
const (
	PhaseRunning Phase = "Running" // lynqctl created it, or is about to
	PhaseFailed  Phase = "Failed"  // it failed, so lynqctl deletes it and creates it again
)

// HooksName returns the name of the Secret with the manifests of a node's hooks. Each key
// is a manifest's digest, so it can have both the recorded manifest and its next version.
func HooksName(node string) string { return wellknown.NodeHooksPrefix + node }

// HookDigest returns the complete SHA-256 of a hook's manifest, because lynqctl runs
// whatever matches it.
func HookDigest(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return hex.EncodeToString(sum[:])
}

// All returns Entries and the hooks that lynqctl has started, which are all objects that
// the node may have.
func (inv *Inventory) All() []Entry {
	if len(inv.Hooks) == 0 {
		return inv.Entries
	}
	begun := slices.DeleteFunc(slices.Clone(inv.Hooks), func(r Entry) bool { return r.Phase == "" })
	return sorted(slices.Concat(inv.Entries, begun))
}

// ListsLike reports whether the inventory lists an object of the kind and namespace of another,
// and the object may exist.
func (inv *Inventory) ListsLike(o lynq.Ref) bool {
	return slices.ContainsFunc(inv.All(), func(r Entry) bool {
		return !r.Purged() && r.Group == o.Group && r.Kind == o.Kind && r.Namespace == o.Namespace
	})
}

// withoutHooks separates entries and hooks.
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

// SortedHooks returns an inventory's hooks in the order in which lynqctl stores them.
func SortedHooks(inv *Inventory) []Entry { return sorted(inv.Hooks) }
