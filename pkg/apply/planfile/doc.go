// Package planfile writes a plan to a file, so that people review it and a later run
// executes exactly that plan.
//
// Freeze turns plans into a File, and Encode and Decode turn a File into JSON and back.
// Compare says how the plans of a later run differ from a File. Plans and a Key flow in,
// and a File or a list of differences flows out.
//
// A File names objects, their uids and versions. It never contains a value of a row or the
// content of an object. It has digests of these, made with a Key that isn't in the File.
// The package itself reads and writes no files.
package planfile
