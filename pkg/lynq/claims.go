package lynq

// StatefulSet is the kind whose objects may delete volume claims with them.
const StatefulSet = "StatefulSet.apps"

// TakesClaims reports whether Kubernetes deletes volume claims with an object. It does
// for a StatefulSet whose persistentVolumeClaimRetentionPolicy says whenDeleted: Delete.
func TakesClaims(ref Ref, content map[string]any) bool {
	if ref.GroupKind() != StatefulSet {
		return false
	}
	spec, _ := content["spec"].(map[string]any)
	retention, _ := spec["persistentVolumeClaimRetentionPolicy"].(map[string]any)
	return retention["whenDeleted"] == "Delete"
}
