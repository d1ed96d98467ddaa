// Package fields tells who manages which fields of an object, and makes what is sent
// so that others keep theirs.
//
// Ignore, CarryIgnored and DropIgnored leave fields to others; Replacement keeps what
// is not for a manifest to take away; WouldChange and Foreign compare a manifest with
// a live object; Retracked and MetadataPatch change metadata alone. A Taker takes the
// fields that a form sets from other managers, and UpgradePatch those that lynq
// manages by updates into what it applies. Conflict is a field that another manager
// has, and Describe tells of such.
//
// All of it is pure: objects flow in, manifests and patches flow out.
package fields
