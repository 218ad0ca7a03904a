// The publication age of the packages in the lock file. A malicious version is usually found within days, so no version younger
// than a week is accepted without a stated reason.
import { packagePaths } from './lock.mjs'

const daysMin = 7
const dayMs = 24 * 60 * 60 * 1000

/** The packages that the lock file installs, as `name@version`, sorted. */
export function lockedVersions(lock) {
  const names = packagePaths(lock.packages).map((path) => {
    const { name, version } = lock.packages[path]
    return `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`
  })
  return [...new Set(names)].sort()
}

/**
 * The problems of the recorded ages, as sentences. An age is `before <day>` for versions that were in the lock file when recording
 * began, the day of publication, or that day followed by a reason: `2026-11-20 fixes CVE-2026-1`.
 */
export function ageProblems(lock, ages, today) {
  const locked = lockedVersions(lock)
  return [
    ...locked.flatMap((version) => problemOf(version, ages[version], today) ?? []),
    ...Object.keys(ages)
      .filter((version) => !locked.includes(version))
      .map((version) => `${version} is recorded, and not in the lock file`),
  ]
}

function problemOf(version, age, today) {
  if (age === undefined) return `${version} is new, and nobody has recorded when it was published`
  if (/^before \d{4}-\d\d-\d\d$/.test(age)) return undefined
  const [, day, reason] = /^(\d{4}-\d\d-\d\d)(?: (\S.*))?$/.exec(age) ?? []
  if (day === undefined) return `${version} has no readable age: ${age}`
  const days = Math.floor((today - Date.parse(day)) / dayMs)
  return days >= daysMin || reason ? undefined : `${version} is ${days} days old, and ${daysMin} are asked for`
}
