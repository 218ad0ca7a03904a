import {
  type Destination,
  type DestinationChange,
  type DestinationField,
  type DestinationInput,
  type DestinationKind,
  destination,
  destinationSettings,
  destinationStatus,
} from '../../../contract/entities/destination.ts'
import type { Language } from '../../../contract/text.ts'
import { countLocked, locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import type { Settings } from './destination-requests.ts'

/**
 * Destinations of alerts and events: admins create and change them; their secrets are sealed and never shown again. `owner` is the
 * organisation whose webhook one is, 0 for the site: each sees and changes its own alone.
 */
export interface OpenDestination {
  readonly id: number
  readonly kind: DestinationKind
  readonly language: Language
  readonly settings: Settings
  readonly failingSince: number
}

/** Of the site, and of one organisation. */
const destinationsMax = { site: 100, organisation: 10 }
const secretLengthMin = 16

export async function listDestinations(core: Core, owner = 0): Promise<Destination[]> {
  const own = core.db.selectFrom('destinations').selectAll().where('organisation_id', '=', owner)
  const rows = await own.orderBy('name').orderBy('id').execute()
  return rows.map((row) => present(core, row))
}

/** Throws `destination_setting_invalid`, `destinations_too_many`. */
export async function createDestination(
  core: Core,
  { caller, input, owner = 0 }: { caller: Caller; input: DestinationInput; owner?: number },
): Promise<Destination> {
  const { kind, name, language, events } = input
  const settings = checkSettings(kind, input.settings)
  return change(core, caller, async (within, audit) => {
    await requireFew(core, within, owner)
    const values = { kind, name, language, events: JSON.stringify(eventsOf(kind, events)), organisation_id: owner }
    const { id } = await within
      .insertInto('destinations')
      .values({ ...values, created_at: seconds(core.now()) })
      .returning('id')
      .executeTakeFirstOrThrow()
    const sealed = core.secrets.seal(JSON.stringify(settings), placeOf(id))
    const row = await update(within, id, { settings_sealed: sealed, failed_call_id: await lastFailedCall(within) })
    const after = present(core, row)
    audit({ ...actionOf('create', id, owner), after: audited(after) })
    return after
  })
}

/**
 * Absent members and empty secrets stay unchanged. Enabling one clears its failures. Throws `not_found`,
 * `destination_setting_invalid`.
 */
export async function changeDestination(
  core: Core,
  { caller, id, change: wanted, owner = 0 }: { caller: Caller; id: number; change: DestinationChange; owner?: number },
): Promise<Destination> {
  return change(core, caller, async (within, audit) => {
    const row = await findDestination(core, within, { id, owner })
    const before = present(core, row)
    const { settings: given = {}, enabled, name = row.name, language = row.language } = wanted
    const events = wanted.events ? eventsOf(before.kind, wanted.events) : before.events
    const settings = checkSettings(before.kind, {
      ...openDestination(core, row).settings,
      ...withoutEmptySecrets(before.kind, given),
    })
    const isNewlyTold = events.includes('call.failed') && !before.events.includes('call.failed')
    const status = enabled === undefined ? row.status : enabled ? destinationStatus.enabled : destinationStatus.disabled
    const fresh = enabled ? { failing_since: 0, last_error: '', status_time: 0 } : {}
    const after = present(
      core,
      await update(within, id, {
        name,
        language,
        status,
        ...fresh,
        events: JSON.stringify(events),
        settings_sealed: core.secrets.seal(JSON.stringify(settings), placeOf(id)),
        ...(isNewlyTold || (enabled && row.status !== status) ? { failed_call_id: await lastFailedCall(within) } : {}),
      }),
    )
    audit({ ...actionOf('update', id, owner), before: audited(before), after: audited(after) })
    return after
  })
}

/** Throws `not_found`. */
export function deleteDestination(
  core: Core,
  { caller, id, owner = 0 }: { caller: Caller; id: number; owner?: number },
): Promise<void> {
  return change(core, caller, async (within, audit) => {
    const row = await findDestination(core, within, { id, owner })
    await within.deleteFrom('deliveries').where('destination_id', '=', id).execute()
    await within.deleteFrom('destinations').where('id', '=', id).execute()
    audit({ ...actionOf('delete', id, owner), before: audited(present(core, row)) })
  })
}

/** A destination with its secrets. */
export function openDestination({ secrets }: Pick<Core, 'secrets'>, row: Row<'destinations'>): OpenDestination {
  return {
    id: row.id,
    // Only `createDestination` writes these, from the contract's enums.
    kind: row.kind as DestinationKind,
    language: row.language as Language,
    settings: JSON.parse(secrets.open(row.settings_sealed, placeOf(row.id))),
    failingSince: row.failing_since,
  }
}

/** The values that no reply may show. */
export function secretsOf({ kind, settings }: Pick<OpenDestination, 'kind' | 'settings'>): string[] {
  const hidden = secretNames(kind).flatMap((name) => settings[name] || [])
  // A peer may quote the path and the query of the URL at which it was called.
  const paths = hidden.flatMap((text) => {
    const url = parseUrl(text)
    return url ? [`${url.pathname}${url.search}`, url.pathname, ...url.searchParams.values()] : []
  })
  return [...hidden, ...paths].filter((text) => text.length > 3).sort((one, other) => other.length - one.length)
}

function present(core: Core, row: Row<'destinations'>): Destination {
  const open = openDestination(core, row)
  const secrets = secretNames(open.kind)
  const shown = Object.keys(destinationSettings(open.kind)).map(
    (name) => [name, secrets.includes(name) ? '' : (open.settings[name] ?? '')] as const,
  )
  return destination.parse({
    ...row,
    events: JSON.parse(row.events),
    settings: Object.fromEntries(shown),
    has: secrets.filter((name) => open.settings[name]),
    target: open.settings.to ?? open.settings.chat ?? parseUrl(open.settings.url ?? '')?.host ?? '',
  })
}

function audited({ kind, name, status, events, target }: Destination): object {
  return { kind, name, status, events, target }
}

async function findDestination(
  core: Core,
  within: Within,
  { id, owner }: { id: number; owner: number },
): Promise<Row<'destinations'>> {
  const found = within.selectFrom('destinations').selectAll().where('id', '=', id).where('organisation_id', '=', owner)
  return (await locked(core, found).executeTakeFirst()) ?? fail('not_found')
}

async function requireFew(core: Core, within: Within, owner: number): Promise<void> {
  const max = owner === 0 ? destinationsMax.site : destinationsMax.organisation
  // Nobody adds one meanwhile.
  await countLocked(core, within, 'destinations')
  const { kept } = await within
    .selectFrom('destinations')
    .select((row) => row.fn.countAll<number>().as('kept'))
    .where('organisation_id', '=', owner)
    .executeTakeFirstOrThrow()
  if (Number(kept) >= max) fail('destinations_too_many', { max })
}

function update(within: Within, id: number, values: Partial<Omit<Row<'destinations'>, 'id'>>): Promise<Row<'destinations'>> {
  return within.updateTable('destinations').set(values).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

/** The last failed call so far: a new webhook is notified of later ones only. */
async function lastFailedCall(within: Within): Promise<number> {
  const { last } = await within
    .selectFrom('logs')
    .select((row) => row.fn.max<number | null>('id').as('last'))
    .executeTakeFirstOrThrow()
  return Math.max(0, Number(last ?? 0))
}

/** Only webhooks get events for programs. */
function eventsOf<Name>(kind: DestinationKind, events: readonly Name[]): Name[] {
  return kind === 'webhook' ? [...new Set(events)] : []
}

/** The settings that no reply has. */
function secretNames(kind: DestinationKind): string[] {
  return Object.entries(destinationSettings(kind)).flatMap(([name, { widget }]) => (widget === 'secret' ? [name] : []))
}

function withoutEmptySecrets(kind: DestinationKind, given: Settings): Settings {
  const secrets = secretNames(kind)
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== '' || !secrets.includes(name)))
}

function checkSettings(kind: DestinationKind, given: Settings): Settings {
  const checked = Object.entries(destinationSettings(kind)).map(([name, field]) => [
    name,
    checkSetting(name, field, (given[name] ?? '').trim()),
  ])
  return Object.fromEntries(checked)
}

function checkSetting(name: string, { label, required, is }: DestinationField, value: string): string {
  const refuse = (zh: string, en: string) => fail('destination_setting_invalid', { field: label, reason: { zh, en } })
  if (value === '') return required ? refuse('不能为空', 'it is required') : ''
  if (is === 'https') {
    const url = parseUrl(value)
    if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
      return refuse('须为不含用户名和密码的 https 地址', 'it must be an https URL without credentials')
  }
  if (is === 'mail' && !/^[^\s@<>()",:;\\]+@[^\s@<>()"',:;\\]+$/.test(value))
    return refuse('须为一个邮箱地址', 'it must be one e-mail address')
  if (name === 'secret' && value.length < secretLengthMin)
    return refuse(`至少 ${secretLengthMin} 个字符`, `it must have at least ${secretLengthMin} characters`)
  if (name === 'token' && !/^[\w:-]+$/.test(value)) return refuse('包含无效字符', 'it contains invalid characters')
  return value
}

function placeOf(id: number) {
  return { table: 'destinations', column: 'settings', row: id }
}

/** What the audit log says was done, and to what: the history of an organisation has what was done to its own. */
function actionOf(act: 'create' | 'update' | 'delete', id: number, owner: number): { action: string; target: string } {
  if (owner === 0) return { action: `destination.${act}`, target: `destination:${id}` }
  return { action: `organisation.webhook-${act}`, target: `organisation:${owner}` }
}
