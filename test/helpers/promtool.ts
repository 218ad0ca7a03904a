import { spawnSync } from 'node:child_process'

/** Whether promtool is installed; otherwise the tests with it are skipped, with a message. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool)
  process.stderr.write(
    '\n  !! promtool is not installed: metrics and rules are NOT CHECKED. Install it: apt-get install prometheus\n\n',
  )

/** What promtool says of its input; '' if it has no complaint. */
export function complaintsOf(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `promtool ended with ${status}`
}
