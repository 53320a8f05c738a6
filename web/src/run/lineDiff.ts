/** Which lines of two texts are the same. */

/**
 * The line of the new text for each line of the old one; -1 for lines that were removed. Lines count from 0.
 *
 * The longest common subsequence: quadratic in what lies between the common beginning and the common end.
 */
export function matchLines(old: readonly string[], fresh: readonly string[]): Int32Array {
  const matched = new Int32Array(old.length).fill(-1);
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) {
    matched[start] = start;
    start += 1;
  }
  let oldEnd = old.length;
  let freshEnd = fresh.length;
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd -= 1;
    freshEnd -= 1;
    matched[oldEnd] = freshEnd;
  }
  const rows = oldEnd - start;
  const columns = freshEnd - start;
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--) {
      const below = lengths[(row + 1) * width + column] ?? 0;
      const right = lengths[row * width + column + 1] ?? 0;
      const isSame = old[start + row] === fresh[start + column];
      lengths[row * width + column] = isSame
        ? (lengths[(row + 1) * width + column + 1] ?? 0) + 1
        : Math.max(below, right);
    }
  for (let row = 0, column = 0; row < rows && column < columns;) {
    if (old[start + row] === fresh[start + column]) {
      matched[start + row] = start + column;
      row += 1;
      column += 1;
    } else if ((lengths[(row + 1) * width + column] ?? 0) >= (lengths[row * width + column + 1] ?? 0))
      row += 1;
    else column += 1;
  }
  return matched;
}
