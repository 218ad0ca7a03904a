import { type ErrorCode, type ErrorKind, errors } from '../../../contract/errors.ts'
import { fill, type Language, type TextParams } from '../../../contract/text.ts'

/**
 * An expected failure. `params` may be shown to the caller; `detail` and `cause` only reach the log.
 * Each surface renders it in its own form: the console as an envelope, the relay in the caller's dialect.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly params: TextParams
  readonly detail: unknown

  constructor(code: ErrorCode, params: TextParams = {}, more: { detail?: unknown; cause?: unknown } = {}) {
    super(fill(errors[code].text.en, params), { cause: more.cause })
    this.name = 'AppError'
    this.code = code
    this.params = params
    this.detail = more.detail
  }

  get kind(): ErrorKind {
    return errors[this.code]
  }

  text(language: Language): string {
    return fill(this.kind.text[language], this.params, language)
  }
}

/** The message of an error, or of any other value that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Throws the expected failure `code`. */
export function fail(code: ErrorCode, params?: TextParams, more?: { detail?: unknown; cause?: unknown }): never {
  throw new AppError(code, params, more)
}
