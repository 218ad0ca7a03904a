import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../base/lib/failure.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { sha256 } from '../../../base/lib/secrets/secrets.ts'
import { type Core, isOnlyNode } from '../../../base/options/core.ts'
import type { Charge, Hold, Ledger } from '../../../money/ledger/ledger.ts'
import { settleUndelivered, writtenOff } from '../../../money/ledger/write-off.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { LocalResponse } from '../conversations/local-response.ts'
import type { LocalResponses } from '../conversations/local-responses.ts'
import type { UpstreamResponse, UpstreamResponses } from '../conversations/upstream-responses.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { requestFingerprint } from '../http/request-fingerprint.ts'

/** A whole reply, and the records to store when it is delivered. */
interface ReplyContent {
  readonly contentType: string
  readonly body: Buffer
  /** The turn that this server stores. */
  readonly own?: LocalResponse | undefined
  /** The record of the response that its vendor stores. */
  readonly kept?: UpstreamResponse | undefined
}

/** A reply whose charge was not durable in time. */
interface Undelivered {
  /** Identifies caller, idempotency key and request: a repeat has the same. */
  readonly slot: string
  readonly hold: Hold
  readonly charge: Charge
  readonly untilMs: number
  /** Resolves when its charge is no longer in the queue of the ledger. */
  withdrawn: Promise<unknown>
  /** Where the content is stored; `nowhere` when there was no room for it. */
  readonly place: 'memory' | 'disk' | 'nowhere'
  /** Set for a reply in memory. */
  readonly content: ReplyContent | undefined
  /** Path of a reply on disk. */
  readonly file: string
  /** Resolves when the file is written. */
  readonly filed: Promise<void>
  readonly bytes: number
}

interface KeepingLimits {
  readonly keptMs: number
  readonly memoryBytes: number
  readonly diskBytes: number
}

const limitsOfKeeping: KeepingLimits = { keptMs: 600_000, memoryBytes: 64 * 1024 * 1024, diskBytes: 1024 * 1024 * 1024 }
const sweepMs = 5000

/**
 * Whole replies that callers did not get because the database did not store their charge in time. Each is retained for ten minutes:
 * in memory, or encrypted on disk beyond a limit. Meanwhile its hold is open and its charge is in no queue. A repeat of its request
 * is charged and gets the reply; otherwise it is written off, with a charge of 0 and its price as a cost of the site.
 */
export class UndeliveredReplies {
  readonly #core: Core
  readonly #ledger: Ledger
  readonly #limits: KeepingLimits
  readonly #folder: string
  readonly #bySlot = new Map<string, Undelivered[]>()
  /** Replies that are being written off; failed writes are repeated. */
  readonly #leaving = new Set<Undelivered>()
  readonly #timer: NodeJS.Timeout
  #memoryBytes = 0
  #diskBytes = 0

  constructor(core: Core, ledger: Ledger, limits: KeepingLimits = limitsOfKeeping) {
    this.#core = core
    this.#ledger = ledger
    this.#limits = limits
    this.#folder = join(core.env.DATA_DIR, 'undelivered', core.node)
    this.#timer = setInterval(() => background(core.logger, 'write off undelivered replies', this.sweep()), sweepMs).unref()
  }

  /** Number of replies that wait for a repeat of their request. */
  get size(): number {
    return this.#bySlot.size
  }

  /** Whether an undelivered reply to this request is on this node. */
  has(requestId: string): boolean {
    for (const waiting of this.#bySlot.values()) if (waiting.some(({ hold }) => hold.requestId === requestId)) return true
    return false
  }

  /** Keeps a reply whose charge is queued. A reply without room is written off at once. */
  keep({
    slot,
    hold,
    charge,
    content,
  }: Pick<Undelivered, 'slot' | 'hold' | 'charge'> & { readonly content: ReplyContent }): void {
    const bytes = sizeOf(content)
    const place = this.#placeFor(bytes)
    const file = join(this.#folder, randomBytes(12).toString('hex'))
    const entry: Undelivered = {
      slot,
      hold,
      charge,
      untilMs: this.#core.now() + this.#limits.keptMs,
      withdrawn: Promise.resolve(),
      place,
      content: place === 'memory' ? content : undefined,
      file,
      filed: place === 'disk' ? this.#write(file, content) : Promise.resolve(),
      bytes,
    }
    // The error is reported when the file is read.
    entry.filed.catch(() => {})
    if (place === 'memory') this.#memoryBytes += bytes
    if (place === 'disk') this.#diskBytes += bytes
    if (place === 'nowhere') this.#leaving.add(entry)
    else this.#wait(entry)
    this.#withdraw(entry)
  }

  /** Takes the oldest reply that waits in a slot, so that one repeat gets it. */
  take(slot: string): Undelivered | undefined {
    const [first, ...others] = this.#bySlot.get(slot) ?? []
    if (others.length > 0) this.#bySlot.set(slot, others)
    else this.#bySlot.delete(slot)
    return first
  }

  /** Puts a reply back that was taken, for the rest of its time. */
  putBack(entry: Undelivered): void {
    this.#wait(entry)
    this.#withdraw(entry)
  }

  /**
   * Charges for a reply that was taken, and returns it once the charge is durable. Undefined when it was written off and must not be
   * delivered. Rejects with `database_unavailable`; then the reply is put back.
   */
  async charge(entry: Undelivered): Promise<ReplyContent | undefined> {
    const { hold, charge } = entry
    try {
      await entry.withdrawn
      const content = entry.content ?? (await this.#fromDisk(entry))
      if (!content) {
        this.#leaving.add(entry)
        return undefined
      }
      await this.#ledger.settle(hold, charge)
      // Another node may have ended the hold meanwhile.
      const charged = await this.#ledger.charged(hold.requestId)
      this.#forget(entry)
      return charged === charge.amount ? content : undefined
    } catch (cause) {
      this.putBack(entry)
      throw cause instanceof AppError ? cause : new AppError('database_unavailable', {}, { cause })
    }
  }

  /** Writes off replies whose time is over, and repeats failed writes. */
  async sweep(): Promise<void> {
    const now = this.#core.now()
    for (const [slot, waiting] of this.#bySlot) {
      const late = waiting.filter(({ untilMs }) => untilMs <= now)
      for (const entry of late) this.#leaving.add(entry)
      if (late.length === waiting.length) this.#bySlot.delete(slot)
      else if (late.length > 0)
        this.#bySlot.set(
          slot,
          waiting.filter((entry) => !late.includes(entry)),
        )
    }
    await Promise.allSettled([...this.#leaving].map((entry) => this.#leave(entry)))
  }

  /** Writes all replies off: nothing is delivered after a restart. Call it before the ledger's `close`, and await it. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const waiting of this.#bySlot.values()) for (const entry of waiting) this.#leaving.add(entry)
    this.#bySlot.clear()
    await Promise.allSettled([...this.#leaving].map((entry) => this.#leave(entry)))
    await rm(this.#folder, { recursive: true, force: true })
  }

  #wait(entry: Undelivered): void {
    this.#bySlot.set(entry.slot, [...(this.#bySlot.get(entry.slot) ?? []), entry])
  }

  #withdraw(entry: Undelivered): void {
    const withdrawing = this.#ledger.withdraw(entry.hold, writtenOff(entry.charge))
    entry.withdrawn = withdrawing.catch((error: unknown) => {
      this.#core.logger.error({ error, request: entry.hold.requestId }, 'a charge could not be taken back')
    })
  }

  async #leave(entry: Undelivered): Promise<void> {
    await entry.withdrawn
    await settleUndelivered(this.#core, this.#ledger, entry.hold, entry.charge)
    if (this.#leaving.delete(entry)) this.#forget(entry)
  }

  #placeFor(bytes: number): Undelivered['place'] {
    if (this.#memoryBytes + bytes <= this.#limits.memoryBytes) return 'memory'
    return this.#diskBytes + bytes <= this.#limits.diskBytes ? 'disk' : 'nowhere'
  }

  #forget({ place, bytes, file, filed }: Undelivered): void {
    if (place === 'memory') this.#memoryBytes -= bytes
    if (place !== 'disk') return
    this.#diskBytes -= bytes
    const removing = filed.catch(() => {}).then(() => rm(file, { force: true }))
    background(this.#core.logger, 'remove an undelivered reply', removing)
  }

  async #write(file: string, { body, ...others }: ReplyContent): Promise<void> {
    const text = JSON.stringify({ ...others, body: body.toString('base64') })
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(file, this.#core.secrets.seal(text, placeOf(file)), { mode: 0o600 })
  }

  /** The content of a reply on disk; undefined when it cannot be read. */
  async #fromDisk({ file, filed }: Undelivered): Promise<ReplyContent | undefined> {
    try {
      await filed
      // Written by `#write` only, and encrypted since.
      const { body, ...others } = JSON.parse(
        this.#core.secrets.open(await readFile(file, 'utf8'), placeOf(file)),
      ) as StoredContent
      return { ...others, body: Buffer.from(body, 'base64') }
    } catch (error) {
      this.#core.logger.error({ error }, 'an undelivered reply could not be read from disk')
      return undefined
    }
  }
}

type StoredContent = Omit<ReplyContent, 'body'> & { readonly body: string }

/** Deletes the files of processes that died. Nodes may share the folder: a file younger than an hour may belong to a running node. */
export async function removeOldReplies(core: Pick<Core, 'env' | 'node' | 'database' | 'siblings'>): Promise<void> {
  const { env, node } = core
  const folder = join(env.DATA_DIR, 'undelivered')
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((other) => other !== node)) {
    const { mtimeMs } = await stat(join(folder, name))
    if (isOnlyNode(core) || mtimeMs < Date.now() - hourMs) await rm(join(folder, name), { recursive: true, force: true })
  }
}

const hourMs = 3_600_000

function sizeOf({ body, own }: ReplyContent): number {
  return body.length + (own ? JSON.stringify(own).length : 0)
}

function placeOf(file: string) {
  return { table: 'undelivered', column: 'content', row: file }
}

/** The parts that delivering a reply later uses. */
interface DeliveryParts extends Pick<Core, 'logger'> {
  readonly undelivered: UndeliveredReplies
  readonly localResponses: LocalResponses
  readonly upstreamResponses: UpstreamResponses
}

/** Charges and sends the undelivered reply to a repeat of its request. False when there is none. Throws `database_unavailable`. */
export async function deliverKept(app: DeliveryParts, call: ClientExchange, caller: RelayCaller): Promise<boolean> {
  const { undelivered } = app
  const entry = undelivered.take(await slotOf(call, caller))
  if (!entry) return false
  if (call.isDisconnected) {
    undelivered.putBack(entry)
    return true
  }
  const content = await undelivered.charge(entry)
  if (!content) return false

  const { own, kept, contentType, body } = content
  const writing = [...(own ? [app.localResponses.keep(own)] : []), ...(kept ? [app.upstreamResponses.keep(kept)] : [])]
  for (const { reason } of (await Promise.allSettled(writing)).filter((result) => result.status === 'rejected'))
    app.logger.error({ error: reason, request: call.id }, 'a response could not be kept')
  call.setHeader('x-sluice-original-request-id', entry.hold.requestId)
  call.answer(contentType, body)
  return true
}

/** The key under which a repeat finds the undelivered reply: user, token, idempotency key (empty without one) and request fingerprint. */
export async function slotOf(call: ClientExchange, { userId, tokenId, pinnedChannel }: RelayCaller): Promise<string> {
  const key = call.request.headers['idempotency-key']
  const fingerprint = await requestFingerprint(call, { pinnedChannel })
  return `${userId} ${tokenId} ${key === undefined ? '' : sha256(String(key))} ${fingerprint}`
}
