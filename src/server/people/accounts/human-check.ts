import { z } from 'zod'
import type { HumanAction } from '../../../contract/human-check.ts'
import { fail } from '../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import type { Core } from '../../base/options/core.ts'

/** https://developers.cloudflare.com/turnstile/get-started/server-side-validation, November 2025. Replaceable in tests. */
const verifier = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const timeoutMs = 5000
const tokenLengthMax = 2048

const verdict = z.object({ success: z.literal(true), hostname: z.string().optional(), action: z.string().default('') })

/** The check's token as a form sends it, and the form in which it was solved. */
interface HumanCheckSolution {
  readonly token: string | undefined
  /** The address of the client. */
  readonly address: string
  readonly action: HumanAction
}

/**
 * The Turnstile check of forms that anyone can send. The verifier accepts each token once and for five minutes, so one solved check
 * allows one call of the form that it was solved in. Any failure counts as not solved.
 */
export class HumanCheck {
  readonly #core: Pick<Core, 'options' | 'logger'>
  readonly #upstream: UpstreamAgents
  readonly #url: string

  constructor(core: Pick<Core, 'options' | 'logger'>, upstream: UpstreamAgents, url: string = verifier) {
    this.#core = core
    this.#upstream = upstream
    this.#url = url
  }

  /** Throws `human_check_failed` unless the token passes, or the check is switched off. */
  async require(solved: HumanCheckSolution): Promise<void> {
    if (!(await this.passes(solved))) fail('human_check_failed')
  }

  async passes({ token, address, action }: HumanCheckSolution): Promise<boolean> {
    const { TurnstileCheckEnabled, TurnstileSecretKey: secret } = this.#core.options.current
    if (!TurnstileCheckEnabled) return true
    if (!token || token.length > tokenLengthMax || secret === '') return false

    try {
      const { status, body } = await callConfigured(this.#upstream, {
        url: this.#url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ secret, response: token, remoteip: address }),
        timeoutMs,
        sizeBytesMax: 64 * 1024,
      })
      const read = verdict.safeParse(JSON.parse(body.toString()))
      return status === 200 && read.success && this.#isOwn(read.data.hostname) && isFor(action, read.data.action)
    } catch (error) {
      this.#core.logger.warn({ error }, 'the human check could not be made')
      return false
    }
  }

  /** Whether the check was solved on this site. */
  #isOwn(hostname: string | undefined): boolean {
    const own = parseUrl(this.#core.options.current.ServerAddress)
    return hostname === undefined || own === undefined || own.hostname === hostname
  }
}

/** Whether the check was solved in this form. A check without a form name passes. */
function isFor(action: HumanAction, told: string): boolean {
  return told === '' || told === action
}
