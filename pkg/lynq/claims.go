package lynq

// StatefulSet is the kind whose objects may take volume claims with them.
const StatefulSet = "StatefulSet.apps"

// TakesClaims tells whether Kubernetes deletes volume claims with an object: those of a
// StatefulSet whose persistentVolumeClaimRetentionPolicy says whenDeleted: Delete.
func TakesClaims(ref Ref, content map[string]any) bool {
	if ref.GroupKind() != StatefulSet {
		return false
	}
	spec, _ := content["spec"].(map[string]any)
	retention, _ := spec["persistentVolumeClaimRetentionPolicy"].(map[string]any)
	return retention["whenDeleted"] == "Delete"
}
