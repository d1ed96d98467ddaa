// Package planfile writes a plan down, so that people review it and a later run carries out
// that plan alone.
//
// Freeze turns plans into a File, and Encode and Decode turn a File into JSON and back.
// Compare says how the plans of a later run differ from a File. Plans and a Key flow in, and a
// File or a list of differences flows out.
//
// A File names objects, their uids and versions. It never holds a value of a row or the
// content of an object: it has digests of these, made with a Key that is not in the File.
// The package reads and writes nothing.
package planfile
