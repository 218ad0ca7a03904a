import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { Passwords } from '../../people/accounts/passwords.ts'
import { resetRoot } from '../../people/accounts/reset-root.ts'
import { reporting, withCore } from './command.ts'

interface Options {
  readonly json?: true
  readonly user?: string
  readonly passwordStdin?: true
  readonly resetFactors?: true
  readonly yes?: true
}

export const rootPasswordCommand = reporting<Options>(
  new Command('root-password')
    .description(
      'Give a super admin a new password, to be changed at the next login. Ends their sessions, access token and mailed codes, and lifts a ban.',
    )
    .option('--user <name>', 'which super admin; the first where none is named')
    .option('--password-stdin', 'read the password from standard input instead of making a random one')
    .option('--reset-factors', 'also remove the second factor and the passkeys')
    .option('--yes', 'do it'),
  async ({ user, passwordStdin, resetFactors = false, yes }) => {
    if (!yes) throw new Error('This ends every session of the account: say --yes')
    const given = passwordStdin ? (await text(process.stdin)).trim() : undefined
    const { username, password } = await withCore((core) =>
      resetRoot({ ...core, passwords: new Passwords() }, { username: user, password: given, resetsFactors: resetFactors }),
    )
    const shown = passwordStdin ? {} : { password }
    const told = passwordStdin ? 'the password that was given' : `the password ${password}`
    return { ok: true, data: { username, ...shown }, lines: [`Log in as ${username} with ${told}, and change it.`] }
  },
)
