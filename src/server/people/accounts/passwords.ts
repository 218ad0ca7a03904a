import { availableParallelism } from 'node:os'
import { hash, parseOptions, verify } from '@node-rs/argon2'
import { hash as hashBcrypt, verify as verifyBcrypt } from '@node-rs/bcrypt'
import { passwordLength } from '../../../contract/entities/user.ts'
import { DatabaseTimeout } from '../../base/db/with-timeout.ts'
import { Semaphore } from '../../base/lib/collections/semaphore.ts'
import { fail } from '../../base/lib/failure.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import { commonPasswords } from './common-passwords.ts'
import { usernameKey } from './usernames.ts'

/** The cost of Argon2id: memory in kibibytes, passes and lanes. */
interface Strength {
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

const fullStrength: Strength = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Hashing leaves one core to the relay if there are several. */
const hashingMax = Math.max(1, availableParallelism() - 1)
const waitingMax = 50
/** Time after which a full queue has been processed. */
const retrySeconds = 1
/** Costs above 14 would keep a core busy for seconds: no program of this kind has created such hashes. */
const bcryptForm = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/
const bcryptCost = { min: 4, max: 14 }

/** The computation itself, without the queue. */
export interface Hashing {
  /** A PHC string with its own salt. */
  hash(password: string): Promise<string>
  /** Verifies a password against a hash. Without a hash it takes as long and returns false, so that the time reveals nothing. */
  verify(password: string, stored: string | undefined): Promise<boolean>
}

/**
 * Password hashes. Hashing is slow and needs much memory on purpose, so this process limits how many run in parallel; beyond a
 * short queue it throws `too_many_requests`.
 */
export class Passwords implements Hashing {
  readonly #strength: Strength
  readonly #semaphore = new Semaphore(hashingMax, waitingMax)
  readonly #hashing: Hashing = {
    hash: (password) => hash(fold(password), this.#strength),
    verify: (password, stored) => this.#verify(password, stored),
  }
  /** Hashes of random passwords, which are verified when a user has no hash of that kind. */
  #argonDummy: Promise<string> | undefined
  #bcryptDummy: { cost: number; hash: Promise<string> } | undefined
  /** The latest timeout of the database within a permit. */
  #timeout: DatabaseTimeout | undefined

  constructor(strength = fullStrength) {
    this.#strength = strength
  }

  hash(password: string): Promise<string> {
    return this.withPermit((hashing) => hashing.hash(password))
  }

  verify(password: string, stored: string | undefined): Promise<boolean> {
    return this.withPermit((hashing) => hashing.verify(password, stored))
  }

  /**
   * Runs the work around a hash under the permit of that hash, so that a refused request costs no database query. Requests that were
   * waiting when the database timed out fail with the same error and do not query it again. Throws `too_many_requests`,
   * `DatabaseTimeout`.
   */
  withPermit<Result>(work: (hashing: Hashing) => Promise<Result>): Promise<Result> {
    const known = this.#timeout
    const task = async () => {
      if (this.#timeout !== known) throw this.#timeout
      try {
        return await work(this.#hashing)
      } catch (error) {
        if (error instanceof DatabaseTimeout) this.#timeout = error
        throw error
      }
    }
    return this.#semaphore.run(task, () => fail('too_many_requests', { seconds: retrySeconds }))
  }

  /**
   * Called when there are bcrypt hashes of this cost, imported from another program. From now on each verification does the work of
   * both kinds, so that its time does not reveal whether the user has logged in since the import.
   */
  expectImported(cost: number): void {
    const wanted = Math.min(cost, bcryptCost.max)
    if (wanted < bcryptCost.min || wanted <= this.importedCost) return
    this.#bcryptDummy = { cost: wanted, hash: hashBcrypt(newSecret(), wanted) }
  }

  /** The cost of the bcrypt hashes that are expected; 0 while none are. */
  get importedCost(): number {
    return this.#bcryptDummy?.cost ?? 0
  }

  async #verify(password: string, stored: string | undefined): Promise<boolean> {
    const imported = stored !== undefined && bcryptForm.test(stored) ? stored : undefined
    const own = stored?.startsWith('$argon2') ? stored : undefined
    if (imported) this.expectImported(Number(imported.slice(4, 6)))
    this.#argonDummy ??= hash(newSecret(), this.#strength)

    const argon = own ?? (await this.#argonDummy)
    const bcrypt = imported ?? (await this.#bcryptDummy?.hash)
    const isOwn = await verify(argon, fold(password))
    // As typed: the program that created the hash did not normalize it.
    const isImported = bcrypt !== undefined && (await verifyBcrypt(password, bcrypt).catch(() => false))
    return (isOwn && own !== undefined) || (isImported && imported !== undefined)
  }

  /** Whether a stored hash is of another kind or strength: it is replaced at the next login. */
  isOutdated(stored: string): boolean {
    if (!stored.startsWith('$argon2')) return true
    const used = parseOptions(stored)
    const { memoryCost, timeCost, parallelism } = this.#strength
    return used.memoryCost !== memoryCost || used.timeCost !== timeCost || used.parallelism !== parallelism
  }
}

/** Throws `password_length` or `password_weak`. Length is counted in characters as people see them. */
export function requireGoodPassword(password: string, username: string): void {
  const length = [...fold(password)].length
  if (length < passwordLength.min || length > passwordLength.max) fail('password_length')
  const plain = usernameKey(password)
  if (commonPasswords.has(plain) || plain === usernameKey(username)) fail('password_weak')
}

/** The same characters typed on another keyboard are the same password. */
function fold(password: string): string {
  return password.normalize('NFKC')
}
