/** The processor time that this process spends on some work, in milliseconds. Other programs on the machine do not lengthen it. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
