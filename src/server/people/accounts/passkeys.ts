import type { AuthenticationResponseJSON, RegistrationResponseJSON, WebAuthnCredential } from '@simplewebauthn/server'
import { logType } from '../../../contract/entities/log.ts'
import type { Passkey } from '../../../contract/entities/passkey.ts'
import type { Language } from '../../../contract/text.ts'
import { isUniqueViolation } from '../../base/db/failures.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import type { Mailer } from '../notify/mailer.ts'
import { lockUser } from './lock-user.ts'
import { requireLoginMethod } from './login-methods.ts'
import { consumeStep, type StepKind, storeStep } from './login-steps.ts'
import { type PasskeySite, passkeySite } from './passkey-site.ts'
import { sendSecurityNotice } from './security-notice.ts'
import { findUser, isActive } from './users.ts'

/**
 * Passkeys: keys that a device keeps and uses only after it has seen its owner, so that a passkey is both factors at once. The
 * server stores the public key. A challenge is valid for one response of the browser or session that requested it.
 */
const challengeMinutes = 5
const passkeysMax = 20

type Options = Readonly<Record<string, unknown>>
/** The browser's reply; the library checks every part of it. */
type Answer = Readonly<Record<string, unknown>>

/** The library parses certificates and binary formats, which most processes never need: it is loaded with the first passkey. */
const library = () => import('@simplewebauthn/server')

export async function listPasskeys(db: Queries, userId: number): Promise<Passkey[]> {
  const rows = await db.selectFrom('passkeys').selectAll().where('user_id', '=', userId).orderBy('id').execute()
  return rows.map(present)
}

/** The options for the browser to create a passkey. Throws `passkeys_unconfigured`, `passkeys_too_many`. */
export async function beginPasskey(core: Core, caller: Caller, sessionToken: string): Promise<Options> {
  const site = passkeySite(core.options.current)
  const known = await core.db.selectFrom('passkeys').selectAll().where('user_id', '=', caller.id).execute()
  requireRoom(known.length)

  const { generateRegistrationOptions } = await library()
  const options = await generateRegistrationOptions({
    rpName: core.options.current.SystemName,
    rpID: site.id,
    userName: caller.username,
    userID: userHandle(core, caller.id),
    attestationType: 'none',
    excludeCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports: listOf(transports) })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  await keepChallenge(core, { kind: 'passkey-add', token: sessionToken, userId: caller.id, challenge: options.challenge })
  return { ...options }
}

/** Stores the passkey that the browser has created. Throws `passkey_refused`, `passkey_known`, `passkeys_too_many`. */
export async function addPasskey(
  core: Core,
  caller: Caller,
  { name, answer, sessionToken }: { name: string; answer: Answer; sessionToken: string },
): Promise<Passkey> {
  const site = passkeySite(core.options.current)
  const challenge = await takeChallenge(core, { kind: 'passkey-add', token: sessionToken, userId: caller.id })
  const credential = await readNewCredential(answer, { site, challenge })
  const row = {
    user_id: caller.id,
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: (credential.transports ?? []).join(','),
    name,
    created_at: seconds(core.now()),
  }
  return core.db.transaction().execute(async (within) => {
    // Several registrations may have started below the limit.
    await lockUser(core, within, caller.id)
    requireRoom((await listPasskeys(within, caller.id)).length)
    const added = await within
      .insertInto('passkeys')
      .values(row)
      .returningAll()
      .executeTakeFirstOrThrow()
      .catch((error: unknown) => {
        if (isUniqueViolation(error)) fail('passkey_known', {}, { cause: error })
        throw error
      })
    const content = `添加了通行密钥 ${name} / Added the passkey ${name}`
    await recordLog(within, { type: logType.system, at: row.created_at, userId: caller.id, username: caller.username, content })
    return present(added)
  })
}

/** Throws `not_found`, also for a passkey of another user. */
export async function renamePasskey(core: Core, caller: Caller, { id, name }: { id: number; name: string }): Promise<Passkey> {
  const row = await core.db
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', id)
    .where('user_id', '=', caller.id)
    .returningAll()
    .executeTakeFirst()
  return row ? present(row) : fail('not_found')
}

/** Throws `not_found`, also for a passkey of another user, and `last_way_in`. */
export async function removePasskey(core: Core, caller: Caller, id: number): Promise<void> {
  await core.db.transaction().execute(async (within) => {
    await lockUser(core, within, caller.id)
    const removed = await within
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', caller.id)
      .returning('name')
      .executeTakeFirst()
    if (!removed) return fail('not_found')
    await requireLoginMethod(core, within, caller.id)
    const content = `删除了通行密钥 ${removed.name} / Removed the passkey ${removed.name}`
    const at = seconds(core.now())
    await recordLog(within, { type: logType.system, at, userId: caller.id, username: caller.username, content })
  })
}

/** The options for the browser to use a passkey: any of this site, or one of the user's. Throws `passkeys_unconfigured`. */
export async function askForPasskey(
  core: Core,
  { kind, token, userId = 0 }: { kind: 'passkey-login' | 'passkey-verify'; token: string; userId?: number },
): Promise<Options> {
  const site = passkeySite(core.options.current)
  const known = userId === 0 ? [] : await core.db.selectFrom('passkeys').selectAll().where('user_id', '=', userId).execute()
  const { generateAuthenticationOptions } = await library()
  const options = await generateAuthenticationOptions({
    rpID: site.id,
    userVerification: 'required',
    allowCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports: listOf(transports) })),
  })
  await keepChallenge(core, { kind, token, userId, challenge: options.challenge })
  return { ...options }
}

/**
 * The active user whose passkey answered the challenge. Throws `passkey_refused` for every failure: a lost challenge, an unknown
 * key, another site, a wrong signature, a copied key, a user who may not log in. The owner of a copied key is notified.
 */
export async function requirePasskey(
  core: Core & { readonly mailer: Mailer },
  {
    kind,
    token,
    userId = 0,
    answer,
    language,
  }: { kind: 'passkey-login' | 'passkey-verify'; token: string; userId?: number; answer: Answer; language: Language },
): Promise<Row<'users'>> {
  const site = passkeySite(core.options.current)
  const challenge = await takeChallenge(core, { kind, token, userId })
  const id = typeof answer.id === 'string' ? answer.id : ''
  const key = await core.db.selectFrom('passkeys').selectAll().where('credential_id', '=', id).executeTakeFirst()
  if (!key || (userId !== 0 && key.user_id !== userId)) return fail('passkey_refused')

  const counter = await readUse(answer, { site, challenge, key })
  const user = await findUser(core.db, key.user_id).catch(() => fail('passkey_refused'))
  if (!isActive(user)) fail('passkey_refused')
  if (!(await noteUse(core.db, { id: key.id, counter, at: seconds(core.now()) }))) {
    await tellOfCopy(core, user, { ...key, language })
    fail('passkey_refused')
  }
  return user
}

/**
 * Stores the signature counter of a use. False when the stored one is as high: the device has a copy. Devices without a counter always
 * send 0. WebAuthn level 3, section 6.1.1.
 */
async function noteUse(db: Queries, { id, counter, at }: { id: number; counter: number; at: number }): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, used_at: at })
    .where('id', '=', id)
    .where((is) => is.or([is('counter', '<', counter), ...(counter === 0 ? [is('counter', '=', 0)] : [])]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function tellOfCopy(
  core: Core & { readonly mailer: Mailer },
  { id: userId, username }: Row<'users'>,
  { id, name, language }: Row<'passkeys'> & { language: Language },
): Promise<void> {
  const at = seconds(core.now())
  // A removal at the same time leaves no row to update either: then nothing was copied.
  const isKept = await core.db.selectFrom('passkeys').select('id').where('id', '=', id).executeTakeFirst()
  if (!isKept) return
  const content = `通行密钥 ${name} 可能已被复制，拒绝了一次使用 / The passkey ${name} may have been copied: a use was refused`
  await recordLog(core.db, { type: logType.system, at, userId, username, content })
  sendSecurityNotice(core, { id: userId, language }, 'passkeyCopied', { name })
}

interface Expected {
  readonly site: PasskeySite
  readonly challenge: string
}

async function readNewCredential(answer: Answer, { site, challenge }: Expected): Promise<WebAuthnCredential> {
  const { verifyRegistrationResponse } = await library()
  try {
    // The library throws for every malformed member.
    const response = answer as unknown as RegistrationResponseJSON
    await requirePlainAttestation(response)
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
    })
    if (verified) return registrationInfo.credential
  } catch (error) {
    fail('passkey_refused', {}, { cause: error })
  }
  return fail('passkey_refused')
}

/** No attestation is requested: the library would fetch the addresses in its certificates. */
async function requirePlainAttestation({ response }: RegistrationResponseJSON): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const attestation = decodeAttestationObject(Buffer.from(response.attestationObject, 'base64url'))
  const isSelf = attestation.get('fmt') === 'packed' && attestation.get('attStmt').get('x5c') === undefined
  if (attestation.get('fmt') !== 'none' && !isSelf) throw new Error(`Attestation ${attestation.get('fmt')} was not asked for`)
}

/**
 * Verifies a use of a passkey and returns its signature counter. The library would compare the counter before the signature, so that
 * anybody could report a copy: `noteUse` compares it afterwards.
 */
async function readUse(answer: Answer, { site, challenge, key }: Expected & { key: Row<'passkeys'> }): Promise<number> {
  const { verifyAuthenticationResponse } = await library()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      // As above: the library throws for invalid data.
      response: answer as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      requireUserVerification: true,
      credential: {
        id: key.credential_id,
        publicKey: new Uint8Array(Buffer.from(key.public_key, 'base64url')),
        counter: 0,
      },
    })
    if (verified) return authenticationInfo.newCounter
  } catch (error) {
    fail('passkey_refused', {}, { cause: error })
  }
  return fail('passkey_refused')
}

interface Asked {
  readonly kind: StepKind
  readonly token: string
  readonly userId: number
}

async function keepChallenge(core: Core, { challenge, ...asked }: Asked & { challenge: string }): Promise<void> {
  await storeStep(core, { ...asked, boundTo: asked.token, detail: { challenge }, minutes: challengeMinutes })
}

async function takeChallenge(core: Core, { kind, token, userId }: Asked): Promise<string> {
  const step = await consumeStep(core, { kind, token }, [token])
  return step?.userId === userId && step.detail.challenge ? step.detail.challenge : fail('passkey_refused')
}

/** Reveals nothing about the user, and is the same for all passkeys of a user, so that a device keeps one entry per user. */
function userHandle({ secrets }: Core, userId: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(secrets.mac('passkey user', String(userId)), 'hex'))
}

function requireRoom(known: number): void {
  if (known >= passkeysMax) fail('passkeys_too_many', { max: passkeysMax })
}

function listOf(transports: string): string[] {
  return transports.split(',').filter((name) => name !== '')
}

function present({ id, name, created_at, used_at }: Row<'passkeys'>): Passkey {
  return { id, name, created_at, used_at }
}
