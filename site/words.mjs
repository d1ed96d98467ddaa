/** Finds words, and names with dashes as a whole, too: a search for max-delete means the flag. */
export function words(text) {
  return [...text.split(/[\n\r\p{Z}\p{P}]+/u), ...(text.match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+/gu) ?? [])]
}
