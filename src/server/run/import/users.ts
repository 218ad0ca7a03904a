import { usernameLengthMax } from '../../../contract/entities/user.ts'
import { isRoot, role } from '../../../contract/roles.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { credit } from '../../money/ledger/credit.ts'
import { canonicalEmail } from '../../people/accounts/email-address.ts'
import { Passwords } from '../../people/accounts/passwords.ts'
import { sealWebhookSecret } from '../../people/accounts/setting.ts'
import { readUsername, usernameKey } from '../../people/accounts/usernames.ts'
import type { IdentityColumn } from '../../people/accounts/users.ts'
import { type Import, idToKeep, mappedIds } from './context.ts'
import { Refused, Skipped, type SourceRow } from './source-row.ts'

const bcryptForm = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/
const knownPassword = '123456'
const renamesMax = 1000

/** Imports a user with password hash, balance and counters. Returns its new id. */
export async function takeUser(run: Import, within: Within, row: SourceRow): Promise<number> {
  const quota = row.integer('quota')
  if (quota < 0) row.note('the balance is below zero', String(quota))
  const replaced = await firstRootToReplace(run, within, row)
  const username = await nameFor(run, within, row, replaced)
  const values = await columnsOf(run, within, row, replaced?.id ?? 0)
  const figures = {
    used_quota: row.integer('used_quota'),
    request_count: row.integer('request_count'),
    aff_count: row.integer('aff_count'),
    aff_quota: row.integer('aff_quota'),
    aff_history_quota: row.integer('aff_history'),
  }
  const columns = { ...values, ...figures, username, username_key: usernameKey(username) }

  const userId = replaced
    ? replaced.id
    : (
        await within
          .insertInto('users')
          .values({ ...columns, ...(await idToKeep(run, within, 'users', row.id)) })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id
  if (replaced) await takePlace(run, within, replaced, columns)
  await within
    .updateTable('users')
    .set({ setting: settingOf(run, row, userId) })
    .where('id', '=', userId)
    .execute()

  const at = seconds(run.core.now())
  await credit(within, { userId, kind: 'grant', amount: quota, reference: `import:user:${userId}`, at, detail: run.family.name })
  run.sums.opened += BigInt(quota)
  await requireBalance(within, userId, quota)
  return userId
}

/** Reports an imported user whose balance in the source has changed since. The balance here is not adjusted. */
export async function compareUser(_run: Import, within: Within, row: SourceRow, userId: number): Promise<void> {
  const opening = await within
    .selectFrom('ledger')
    .select('amount')
    .where('reference', '=', `import:user:${userId}`)
    .executeTakeFirst()
  const quota = row.integer('quota')
  if (opening && opening.amount !== quota)
    row.note(
      'the balance in the source has changed since the import; the balance here was not adjusted',
      `${opening.amount} then, ${quota} now`,
    )
}

/** The super admin whom the first start created, if no import has replaced it yet: the first super admin of the source replaces it. */
async function firstRootToReplace({ keepsIds, id }: Import, within: Within, row: SourceRow): Promise<Row<'users'> | undefined> {
  if (!keepsIds || !isRoot(row.integer('role'))) return undefined
  const own = await within.selectFrom('users').selectAll().where('role', '=', role.root).orderBy('id').limit(2).execute()
  const [root, second] = own
  if (!root || second) return undefined
  const imported = await within
    .selectFrom('imported_rows')
    .select('row_id')
    .where('entity', '=', 'users')
    .where('row_id', '=', root.id)
    .where('import_id', '=', id)
    .executeTakeFirst()
  return imported ? undefined : root
}

async function takePlace(
  run: Import,
  within: Within,
  root: Row<'users'>,
  columns: Partial<Omit<Row<'users'>, 'id' | 'quota' | 'held'>>,
): Promise<void> {
  if (root.quota !== 0) {
    const at = seconds(run.core.now())
    const taken = { userId: root.id, kind: 'adjust', amount: 0 - root.quota, at } as const
    await credit(within, { ...taken, reference: `import:first-grant:${root.id}`, detail: run.family.name })
    run.sums.takenBack += BigInt(root.quota)
  }
  await within.updateTable('users').set(columns).where('id', '=', root.id).execute()
  await within.deleteFrom('sessions').where('user_id', '=', root.id).execute()
}

async function nameFor(
  { intoExisting }: Import,
  within: Within,
  row: SourceRow,
  replaced: Row<'users'> | undefined,
): Promise<string> {
  const username = row.text('username')
  if (username.trim() === '') throw new Refused('the name is empty')
  try {
    readUsername(username)
  } catch {
    row.note('the name breaks the rules of this site: it is kept until an admin changes it', username)
  }
  const isFree = async (name: string) => {
    const other = await within.selectFrom('users').select('id').where('username_key', '=', usernameKey(name)).executeTakeFirst()
    return !other || other.id === replaced?.id
  }
  if (await isFree(username)) return username
  const what = 'the name already exists, ignoring case'
  if (intoExisting === 'skip') throw new Skipped(what)
  if (intoExisting === 'refuse') throw new Refused(what)
  for (let count = 2; count < renamesMax; count++) {
    const end = `-${count}`
    const name = [...username].slice(0, usernameLengthMax - end.length).join('') + end
    if (!(await isFree(name))) continue
    row.change('the name already exists: the user was renamed', `${username} is ${name}`)
    return name
  }
  throw new Refused(what)
}

async function columnsOf(run: Import, within: Within, row: SourceRow, replacedId: number) {
  const password_hash = row.text('password')
  if (!bcryptForm.test(password_hash)) row.note('the password is not a bcrypt hash: nobody can log in with it')
  const given = row.integer('role', role.ordinary)
  const known = given === role.ordinary || given === role.admin || given === role.root
  if (!known) row.change('unknown role: imported as an ordinary user', String(given))
  const status = row.integer('status', 1)
  const isDeleted = run.family.deletedStatus !== undefined && status === run.family.deletedStatus
  if (!isDeleted && status !== 1 && status !== 2) row.change('unknown status: the user is banned', String(status))
  const inviter = row.integer('inviter_id')
  const inviter_id = (await mappedIds(within, run.id, 'users', [inviter])).get(inviter) ?? 0
  if (inviter !== 0 && inviter_id === 0) row.change('the inviter was not imported', String(inviter))
  const roots = isRoot(given) && (await new Passwords().verify(knownPassword, password_hash))
  if (roots) row.note(`the password of this super admin is ${knownPassword}: it must be changed at the first login`)
  const now = seconds(run.core.now())

  return {
    display_name: row.text('display_name') || row.text('username'),
    password_hash,
    must_change_password: Number(roots),
    role: known ? given : role.ordinary,
    status: status === 1 || isDeleted ? 1 : 2,
    group: row.text('group') || 'default',
    inviter_id,
    created_time: row.integer('created_at'),
    deleted_at: row.time('deleted_at') ?? (isDeleted ? now : null),
    access_token_hash: await accessToken(within, row, replacedId),
    aff_code: await invitationCode(within, row, replacedId),
    email: await email(within, row, replacedId),
    ...(await identities(within, row, replacedId)),
  }
}

async function email(within: Within, row: SourceRow, ownId: number): Promise<string> {
  const given = row.text('email')
  if (given === '') return ''
  const address = canonicalEmail(given)
  if (address === undefined) {
    row.change('the e-mail address is not valid: it was left out', given)
    return ''
  }
  if (await isFreeFor(within, 'email', address, ownId)) return address
  row.change('another user has this e-mail address: it was left out', address)
  return ''
}

/**
 * Accounts at external identity providers. The sources store the GitHub login name, which can pass to another person, and OpenID subjects
 * without their issuer. Neither identifies a person, so both are dropped, and users link these accounts again.
 */
async function identities(within: Within, row: SourceRow, ownId: number): Promise<Partial<Record<IdentityColumn, string>>> {
  if (row.text('github_id') !== '')
    row.change('the GitHub account is a login name, not an id: the user has to link it again', row.text('github_id'))
  for (const column of ['oidc_id', 'lark_id', 'discord_id'])
    if (row.text(column) !== '')
      row.change(`${column} has no issuer or no counterpart: the user has to link the account again`, row.text(column))
  const kept: Partial<Record<IdentityColumn, string>> = { github_id: '', oidc_id: '' }
  for (const column of ['wechat_id', 'telegram_id', 'linux_do_id'] as const) {
    const id = row.text(column)
    const isFree = id === '' || (await isFreeFor(within, column, id, ownId))
    if (!isFree) row.change(`another user has this ${column}: it was left out`, id)
    kept[column] = isFree ? id : ''
  }
  return kept
}

async function accessToken(within: Within, row: SourceRow, ownId: number): Promise<string | null> {
  const token = row.text('access_token')
  if (token === '') return null
  const hash = sha256(token)
  if (await isFreeFor(within, 'access_token_hash', hash, ownId)) return hash
  row.change('another user has this access token: it was left out')
  return null
}

async function invitationCode(within: Within, row: SourceRow, ownId: number): Promise<string> {
  const code = row.text('aff_code')
  if (code !== '' && (await isFreeFor(within, 'aff_code', code, ownId))) return code
  if (code !== '') row.change('another user has this invitation code: a new one was made', code)
  for (;;) {
    const fresh = randomText(6)
    if (await isFreeFor(within, 'aff_code', fresh, ownId)) return fresh
  }
}

type Unique = 'email' | 'access_token_hash' | 'aff_code' | IdentityColumn

async function isFreeFor(within: Within, column: Unique, value: string, ownId: number): Promise<boolean> {
  const other = await within.selectFrom('users').select('id').where(column, '=', value).executeTakeFirst()
  return !other || other.id === ownId
}

/** The settings of the user, with the webhook secret sealed. */
function settingOf({ core }: Import, row: SourceRow, userId: number): string {
  const setting = row.object('setting')
  if (!setting) {
    row.change('the settings are not valid JSON: they were left out')
    return ''
  }
  const { webhook_secret: secret, notification_email: unproved, ...rest } = setting
  if (typeof unproved === 'string' && unproved !== '')
    row.change('the notification address was never confirmed: the user has to confirm it', unproved)
  const sealed =
    typeof secret === 'string' && secret !== '' ? { webhook_secret_sealed: sealWebhookSecret(core, userId, secret) } : {}
  const kept = { ...rest, ...sealed }
  return Object.keys(kept).length === 0 ? '' : JSON.stringify(kept)
}

/** Throws if the balance of an imported user differs from the source. */
async function requireBalance(within: Within, userId: number, quota: number): Promise<void> {
  const user = await within.selectFrom('users').select('quota').where('id', '=', userId).executeTakeFirstOrThrow()
  if (user.quota !== quota)
    throw new Error(`User ${userId} has ${user.quota} units here and ${quota} in the source: nothing was written`)
}
