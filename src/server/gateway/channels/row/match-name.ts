/**
 * Whether a name matches a pattern, in which each `*` matches any characters or none. Case-sensitive. Never takes longer than the
 * product of both lengths. Pure.
 */
export function matchesName(pattern: string, name: string): boolean {
  let [at, inPattern] = [0, 0]
  // The position at which matching resumes when the rest after the last star does not match: one character later.
  let [starAt, nextAt] = [-1, 0]
  while (at < name.length) {
    if (pattern[inPattern] === '*') {
      starAt = inPattern++
      nextAt = at
    } else if (pattern[inPattern] === name[at]) {
      inPattern++
      at++
    } else if (starAt >= 0) {
      inPattern = starAt + 1
      at = ++nextAt
    } else {
      return false
    }
  }
  return /^\**$/.test(pattern.slice(inPattern))
}

/** Whether a name in a list of models is a pattern. */
export function isPattern(name: string): boolean {
  return name.includes('*')
}
