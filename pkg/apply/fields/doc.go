// Package fields knows who manages which fields of an object. It makes manifests and
// patches that leave others their fields.
//
// Ignore, CarryIgnored and DropIgnored leave fields to others. Replacement keeps fields
// that a manifest must not remove. WouldChange and Foreign compare a manifest with a live
// object. Retracked and MetadataPatch change only metadata. A Takeover takes the form's fields
// from other managers. UpgradePatch moves fields from lynq's updates into its apply.
// Conflict is a field of another manager, and Describe lists conflicts.
//
// Objects flow in, and manifests and patches flow out. The package is pure. It never sends
// a request.
package fields
